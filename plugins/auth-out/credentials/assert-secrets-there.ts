import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { referredName } from './kept-secret.ts'
import { createWorkloadSecrets } from './workload-secrets.ts'

/** Fails with `credential_missing` or `credential_of_other_server` where the login names a secret that it cannot use. */
export async function assertSecretsThere(app: App, config: RunConfig): Promise<void> {
  const { bearer_token, client_secret, private_key } = config.remote_auth_config ?? {}
  const secrets = createWorkloadSecrets(app)
  for (const said of [bearer_token, client_secret, private_key]) {
    const name = referredName(said ?? '')
    if (name !== undefined) await secrets.get(name, config)
  }
}
