import type { App } from '../../../src/app.ts'
import type { AccessProblem, ServerRefusal } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { clean } from '../../../src/lib/printable.ts'
import type { Log } from '../../../src/log.ts'
import type { Authorization, AuthorizationValue } from '../credentials/authorization.ts'
import { failures } from '../failures.ts'
import type { BearerChallenge, TokenSet } from '../oauth/types.ts'
import { EARLY_MS, type LoginPlace } from './login-keeper.ts'
import { asksForLogin, readLoginSettings, readReach } from './login-settings.ts'
import { nextWait, readRetryTimes } from './retry-times.ts'

/** How often a request may make us look whether somebody has logged in, in milliseconds. */
const LOOK_MS = 2000
/** How often it is looked whether the login is still there, in milliseconds. */
const WATCH_MS = 5000
/** How often refusals may make us refresh, in milliseconds: a server could refuse every token. */
const REPLACE_MS = 30_000

/** The server refuses tokens that the provider has just issued. */
export const TOKEN_REFUSED: AccessProblem = {
  status: 'unauthenticated',
  reason: 'The remote server does not accept the token of the login.',
}

/** Failures after which the same may work a little later. */
const PASSING: ReadonlySet<string> = new Set(['remote_server_unreachable', 'remote_issuer_unreachable'])

/**
 * Gives requests the token of a login. Without one, requests go as they are until the server refuses one: then it is
 * found out where to log in, and whether somebody has.
 */
export async function loginAuthorizationOf(
  app: App,
  config: RunConfig,
  { log, setAccess }: { log: Log; setAccess: (problem: AccessProblem | undefined) => void },
): Promise<Authorization> {
  const keeper = await app.service('remoteLogins')
  const engine = await app.service('oauthEngine')
  const times = readRetryTimes(app.env)
  const reach = await readReach(config)
  let place: LoginPlace | undefined
  let token: TokenSet | undefined
  let problem: AccessProblem | undefined
  let renewing: Promise<AccessProblem | undefined> | undefined
  let lookedAt = 0
  let replacedAt = 0
  let timer: NodeJS.Timeout | undefined
  let failing: { since: number; tried: number } | undefined
  let closed = false

  function note(found: AccessProblem | undefined): AccessProblem | undefined {
    if (closed) return found
    if (found && found.reason !== problem?.reason) log.warn(found.reason)
    if (!found && problem) log.info('The login to the remote server works again.')
    problem = found
    setAccess(found)
    return found
  }

  async function findPlace(challenge: BearerChallenge | undefined): Promise<LoginPlace> {
    const settings = await readLoginSettings(app, config)
    return keeper.place({ settings, challenge }, reach)
  }

  /** Fails with `remote_server_unreachable`. */
  async function challengeOf(): Promise<BearerChallenge | undefined> {
    const found = await engine.detect(reach)
    if (found.kind === 'unreachable') {
      throw failures.remote_server_unreachable({ server: reach.target, problem: found.problem })
    }
    return found.kind === 'login' ? found.challenge : undefined
  }

  /** Gets another token than the rejected one. Resolves with why there is none. */
  async function renew(challenge?: BearerChallenge, rejected?: string): Promise<AccessProblem | undefined> {
    lookedAt = Date.now()
    try {
      place ??= await findPlace(challenge ?? (await challengeOf()))
      const outcome = await keeper.token(place, { rejected })
      if ('token' in outcome) {
        token = outcome.token
        if (rejected !== undefined) replacedAt = Date.now()
        failing = undefined
        return note(undefined)
      }
      token = undefined
      if (outcome.problem.status === 'auth_retrying')
        return tryLater(outcome.problem.reason, outcome.retryAfterMs)
      return note(outcome.problem)
    } catch (error) {
      token = undefined
      if (isFailure(error) && !PASSING.has(error.code))
        return note({ status: 'unauthenticated', reason: error.message })
      if (!isFailure(error)) log.error('The login failed.', { error: messageOf(error) })
      return tryLater(messageOf(error))
    }
  }

  function tryLater(reason: string, retryAfterMs = 0): AccessProblem | undefined {
    failing ??= { since: Date.now(), tried: 0 }
    const wait = nextWait(times, { tried: failing.tried, elapsedMs: Date.now() - failing.since })
    failing.tried++
    if (wait === undefined) return note({ status: 'unauthenticated', reason })
    clearTimeout(timer)
    if (!closed) timer = setTimeout(() => void ensure(), Math.max(wait, retryAfterMs)).unref()
    return note({ status: 'auth_retrying', reason })
  }

  function ensure(challenge?: BearerChallenge, rejected?: string): Promise<AccessProblem | undefined> {
    renewing ??= renew(challenge, rejected).finally(() => {
      renewing = undefined
    })
    return renewing
  }

  const current = (hasOwn: boolean): AuthorizationValue => {
    if (token) return { header: `Bearer ${token.accessToken}` }
    return problem && !hasOwn ? { problem } : { header: undefined }
  }

  const leftMs = (): number =>
    token?.expiresAt === undefined ? Number.POSITIVE_INFINITY : token.expiresAt - Date.now()

  function valueNow(hasOwn: boolean): AuthorizationValue | Promise<AuthorizationValue> {
    if (token) {
      const left = leftMs()
      if (left > EARLY_MS) return current(hasOwn)
      const pending = ensure()
      return left > 0 ? current(hasOwn) : pending.then(() => current(hasOwn))
    }
    if (renewing) return renewing.then(() => current(hasOwn))
    const mayLook = problem?.status === 'unauthenticated' && Date.now() - lookedAt > LOOK_MS
    return mayLook && !hasOwn ? ensure().then(() => current(hasOwn)) : current(hasOwn)
  }

  /** Nobody can be asked here, so the next login asks for more. What needs less goes on meanwhile. */
  async function moreScopes({ scopes = [] }: BearerChallenge): Promise<never> {
    const error = failures.remote_scopes_missing({ workload: config.name, scopes: scopes.map(clean) })
    if (place && token) {
      await keeper.noteMissing(place.key, scopes)
      note({ status: 'unauthenticated', reason: error.message })
    }
    throw error
  }

  /** So that the status tells of a logout also while nobody sends requests. */
  async function look(): Promise<void> {
    if (token && place && !(await keeper.isCurrent(place.key, token))) await ensure()
  }
  const watch = setInterval(() => {
    look().catch(error => log.error('The login could not be looked at.', { error: messageOf(error) }))
  }, WATCH_MS).unref()

  if (asksForLogin(config)) void ensure()
  return {
    value(hasOwn) {
      const found = token && place ? keeper.isCurrent(place.key, token) : true
      if (found === true) return valueNow(hasOwn)
      return Promise.resolve(found).then(async isCurrent => {
        if (!isCurrent) await ensure()
        return valueNow(hasOwn)
      })
    },
    refused({ status, wwwAuthenticate }: ServerRefusal, sent) {
      const challenge = engine.readChallenge(status, wwwAuthenticate)
      if (sent === undefined && (!challenge || token)) return token ? ensure() : undefined
      if (status === 403) return challenge?.error === 'insufficient_scope' ? moreScopes(challenge) : undefined
      const rejected = sent?.replace(/^Bearer /, '')
      const isCurrent = token !== undefined && token.accessToken === rejected
      return isCurrent && Date.now() - replacedAt < REPLACE_MS
        ? Promise.resolve(TOKEN_REFUSED)
        : ensure(challenge, rejected)
    },
    taken: () => undefined,
    close() {
      closed = true
      clearTimeout(timer)
      clearInterval(watch)
    },
  }
}
