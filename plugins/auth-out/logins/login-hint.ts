import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isMachine } from '../grant-types.ts'

/** What to type to log in again; a proxy without a workload has to be started again. */
export async function loginHint(app: App, config: RunConfig): Promise<string> {
  const { name, remote_url } = config
  if (isMachine(config.remote_auth_config))
    return 'See whether the secret or private key of its client is good.'
  const { configs } = await app.service('workloadStore')
  const isWorkload = (await configs.list()).some(one => one.name === name && one.remote_url === remote_url)
  return isWorkload ? `Log in with: keelson auth login ${name}` : 'Start the proxy again to log in.'
}
