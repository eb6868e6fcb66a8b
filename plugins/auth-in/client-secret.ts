import type { App } from '../../src/app.ts'
import { readUserFile } from '../../src/user-file.ts'
import { type BoundSecret, boundSecret, type MemberSecret, memberSecret } from '../secrets/index.ts'
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

/** The client secret of run configs. Fails with `oidc_secret_not_storable` and `oidc_secret_missing`. */
export const clientSecretIn = (app: App): MemberSecret =>
  memberSecret(['oidc_config', 'clientSecret'], (workload, oidc) => secretOf(app, workload, oidc))
