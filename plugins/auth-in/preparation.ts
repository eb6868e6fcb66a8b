import { resolve } from 'node:path'
import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import { clientSecretIn, clientSecretOf } from './client-secret.ts'
import { environmentSecret, warnOfTypedSecret } from './environment-secret.ts'
import { failures } from './failures.ts'
import type { OidcConfig } from './oidc-config.ts'
import { oidcOf } from './section.ts'

/** Completes what a run config says of the login of callers, and takes a plain client secret out of it. */
export const loginPreparation = (app: App): Preparation => ({
  async complete(config, { options, typed, foreground }) {
    const oidc = oidcOf(config)
    if (!oidc) return config
    // A proxy without a workload stays in the foreground; requests over HTTP never do.
    const hasPerson = typed || foreground
    if (hasPerson) warnOfTypedSecret(app, options)
    const confirmed = confirmFiles(oidc, options)
    const secret = hasPerson && isOpen(confirmed) ? environmentSecret(app) : undefined
    const completed = secret ? { ...confirmed, clientSecret: secret } : confirmed
    await clientSecretOf(app, completed, config.name) // fails now where it is missing
    await readCaBundle(completed.cacertPath)
    return withOidc(config, completed)
  },
  conceal: config => clientSecretIn(app).conceal(config),
  reveal: config => clientSecretIn(app).reveal(config),
})

const isOpen = ({ clientID, clientSecret, clientSecretFile }: OidcConfig): boolean =>
  clientID !== undefined && !clientSecret && !clientSecretFile

/** The token file has a member of its own beside the section. */
function withOidc(config: RunConfig, { authTokenFile, ...oidc }: OidcConfig): RunConfig {
  const { jwks_auth_token_file: _, ...rest } = config
  return {
    ...rest,
    oidc_config: oidc,
    ...(authTokenFile ? { jwks_auth_token_file: authTokenFile } : {}),
  }
}

const FILES = { clientSecretFile: 'oidc-client-secret-file', authTokenFile: 'jwks-auth-token-file' } as const

/**
 * A run config of a file may be a stranger's, and the contents of these files go to the provider that it names: the
 * person has to name them, too, and to allow addresses of private networks. Fails with `oidc_file_unconfirmed` and
 * `oidc_private_unconfirmed`.
 */
function confirmFiles(oidc: OidcConfig, options: RunOptions): OidcConfig {
  if (options['from-config'] === undefined) return oidc
  if (oidc.allowPrivateIP && !options['jwks-allow-private-ip']) throw failures.oidc_private_unconfirmed()
  const confirmed: OidcConfig = {}
  for (const member of ['clientSecretFile', 'authTokenFile'] as const) {
    const [named, typed] = [oidc[member], options[FILES[member]]]
    if (named && !typed) throw failures.oidc_file_unconfirmed({ path: named, flag: FILES[member] })
    if (typed) confirmed[member] = resolve(typed)
  }
  return { ...oidc, ...confirmed }
}
