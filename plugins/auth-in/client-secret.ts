import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { readUserFile } from '../../src/user-file.ts'
import { type BoundSecret, boundSecret } from '../secrets/index.ts'
import { failures } from './failures.ts'
import type { OidcConfig } from './oidc-config.ts'

const secretOf = (app: App, workload: string, oidc: OidcConfig): BoundSecret =>
  boundSecret(app, {
    workload,
    prefix: 'OIDC_CLIENT_SECRET',
    target: 'oidc_client_secret',
    bound: [oidc.introspectionURL, oidc.clientID],
    failures: { missing: failures.oidc_secret_missing, notStorable: failures.oidc_secret_not_storable },
  })

/** Returns the secret: from its file, the secrets provider, or plain. Fails with `oidc_secret_missing`. */
export const clientSecretOf = (app: App, oidc: OidcConfig, workload: string): Promise<string | undefined> =>
  oidc.clientSecretFile
    ? readSecretFile(oidc.clientSecretFile)
    : secretOf(app, workload, oidc).read(oidc.clientSecret)

async function readSecretFile(path: string): Promise<string> {
  const secret = (await readUserFile(path, 'The --oidc-client-secret-file')).trim()
  if (!secret) throw failures.auth_config_invalid({ problem: `the file ${path} is empty` })
  return secret
}

/** Moves a plain secret into the secrets provider. Fails with `oidc_secret_not_storable`. */
export async function concealClientSecret(app: App, config: RunConfig): Promise<RunConfig> {
  const { oidc_config: oidc } = config
  if (!oidc?.clientSecret) return config
  const clientSecret = await secretOf(app, config.name, oidc).conceal(oidc.clientSecret)
  return { ...config, oidc_config: { ...oidc, clientSecret } }
}

/** The run config with the secret that is kept for it. Fails with `oidc_secret_missing`. */
export async function revealClientSecret(app: App, config: RunConfig): Promise<RunConfig> {
  const { oidc_config: oidc } = config
  if (!oidc?.clientSecret) return config
  const clientSecret = await secretOf(app, config.name, oidc).read(oidc.clientSecret)
  return { ...config, oidc_config: { ...oidc, ...(clientSecret ? { clientSecret } : {}) } }
}

/** Deletes what is kept for a workload that is gone. */
export async function forgetClientSecret(app: App, { name, oidc_config: oidc }: RunConfig): Promise<void> {
  if (oidc) await secretOf(app, name, oidc).forget(oidc.clientSecret)
}
