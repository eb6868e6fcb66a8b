import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../failures.ts'
import type { BearerChallenge, Reach } from '../oauth/types.ts'
import type { LoginPlace } from './login-parts.ts'
import { readLoginSettings } from './login-settings.ts'

/**
 * Where to log in for a workload: as its server's challenge says, which is asked for one where there is none. Fails
 * with `remote_server_unreachable`, or as `LoginKeeper.place`.
 */
export async function findLoginPlace(
  app: App,
  config: RunConfig,
  { reach, challenge }: { reach: Reach; challenge: BearerChallenge | undefined },
): Promise<LoginPlace> {
  const asked = challenge ?? (await challengeOf(app, reach))
  const [settings, keeper] = await Promise.all([readLoginSettings(app, config), app.service('remoteLogins')])
  return keeper.place({ settings, challenge: asked }, reach)
}

async function challengeOf(app: App, reach: Reach): Promise<BearerChallenge | undefined> {
  const found = await (await app.service('oauthEngine')).detect(reach)
  if (found.kind === 'unreachable') {
    throw failures.remote_server_unreachable({ server: reach.target, problem: found.problem })
  }
  return found.kind === 'login' ? found.challenge : undefined
}
