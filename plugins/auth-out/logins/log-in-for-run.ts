import type { App } from '../../../src/app.ts'
import type { PreparationContext } from '../../../src/contracts/preparation.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { actsForCallers } from '../credentials/acts-for-callers.ts'
import { describeLasting } from './log-in.ts'
import { asksForLogin, readLoginSettings, readReach, waitMsOf } from './login-settings.ts'
import { cannotKeep } from './login-store.ts'
import { personAtTerminal } from './person-at-terminal.ts'

/**
 * Logs in to a remote server that demands it, before its workload is made. A login that there is already is used
 * again. Fails as the engine does; then nothing was made.
 */
export async function logInForRun(
  app: App,
  config: RunConfig,
  context: PreparationContext & { hasHeaders: boolean },
): Promise<RunConfig> {
  const { signal, report, options } = context
  const isWanted = options['remote-auth'] === true || asksForLogin(config)
  // The headers, or what callers bring, may be all that the server wants.
  if (!isWanted && (context.hasHeaders || (await actsForCallers(app, config)))) return config
  const engine = await app.service('oauthEngine')
  const reach = { ...(await readReach(config)), signal }
  const found = await engine.detect(reach)
  if (found.kind === 'other') {
    const schemes = found.schemes.join(', ')
    app.log.warn(
      `${reach.target} demands ${schemes}, which is not OAuth. Give what it wants with --remote-forward-headers-secret.`,
    )
  }
  if (found.kind !== 'login' && !isWanted) return config
  const challenge = found.kind === 'login' ? found.challenge : undefined
  const settings = await readLoginSettings(app, config)
  const keeper = await app.service('remoteLogins')
  const isTyped = Boolean(options['remote-auth-issuer'] ?? options['remote-auth-token-url'])
  if (settings.isMachine) {
    const place = await keeper.place({ settings, challenge, isTyped }, reach)
    await engine.loginAsMachine(place, reach) // fails now where the credentials are wrong
    await keeper.bindClient(place)
    return config
  }
  await assertNotLocked(app)
  const place = await keeper.place({ settings, challenge, isTyped }, reach)
  report?.(`Logging in at ${place.discovery.issuer}`)
  const outcome = await keeper.login(place, {
    person: personAtTerminal(app, context, { browser: !config.remote_auth_config?.skip_browser }),
    waitMs: waitMsOf(config.remote_auth_config ?? {}),
    memory: context.foreground ? 'process' : 'supervisor',
    signal,
  })
  const lasting = outcome.isNew ? describeLasting(outcome) : undefined
  if (lasting) context.say?.(lasting)
  const cached_client_id = outcome.record.client.clientId
  return { ...config, remote_auth_config: { ...config.remote_auth_config, cached_client_id } }
}

/** A provider that is set up and cannot be used, for example without its password, fails before the login. */
export async function assertNotLocked(app: App): Promise<void> {
  const secrets = await app.find('secrets')
  try {
    await secrets?.assertCanStore('remote login')
  } catch (error) {
    if (!cannotKeep(error)) throw error
  }
}
