import type { App } from '../../../src/app.ts'
import type { AccessProblem } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { messageOf } from '../../../src/errors.ts'
import { clean } from '../../../src/lib/printable.ts'
import type { Log } from '../../../src/log.ts'
import type { Authorization } from '../credentials/authorization.ts'
import { failures } from '../failures.ts'
import type { BearerChallenge } from '../oauth/types.ts'
import { createAccessStatus } from './access-status.ts'
import { findLoginPlace } from './find-login-place.ts'
import { createLoginHeader } from './login-header.ts'
import { loginHint } from './login-hint.ts'
import { asksForLogin, readReach } from './login-settings.ts'
import { readRetryTimes } from './retry-times.ts'
import { createTokenRenewal } from './token-renewal.ts'
import { watchLogin } from './watch-login.ts'

/** How often refusals may make us refresh, in milliseconds: a server could refuse every token. */
const REPLACE_MS = 30_000

/** The server refuses tokens that the provider has just issued. */
export const TOKEN_REFUSED: AccessProblem = {
  status: 'unauthenticated',
  reason: 'The remote server does not accept the token of the login.',
}

/**
 * Gives requests the token of a login. Without one, requests go as they are until the server refuses one: then it is
 * found out where to log in, and whether somebody has.
 */
export async function loginAuthorizationOf(
  app: App,
  config: RunConfig,
  {
    log,
    setAccess,
    looksAhead = false,
  }: {
    log: Log
    setAccess: (problem: AccessProblem | undefined) => void
    /** Whether the login that the server requires is found out before anybody sends a request. */
    looksAhead?: boolean
  },
): Promise<Authorization> {
  const keeper = await app.service('remoteLogins')
  const engine = await app.service('oauthEngine')
  const reach = await readReach(config)
  const access = createAccessStatus({ log, setAccess })
  const renewal = createTokenRenewal({
    keeper,
    findPlace: challenge => findLoginPlace(app, config, { reach, challenge }),
    access,
    hint: () => loginHint(app, config),
    times: readRetryTimes(app.env),
    log,
  })

  /** Nobody can be asked here, so the next login asks for more. What needs less goes on meanwhile. */
  async function moreScopes({ scopes = [] }: BearerChallenge): Promise<never> {
    const error = failures.remote_scopes_missing({ workload: config.name, scopes: scopes.map(clean) })
    if (renewal.place && renewal.token) {
      await keeper.noteMissing(renewal.place.key, scopes)
      access.set({ status: 'unauthenticated', reason: error.message })
    }
    throw error
  }

  const closing = new AbortController()

  async function lookAhead(): Promise<void> {
    const found = await engine.detect({ ...reach, signal: closing.signal })
    if (found.kind === 'login') await renewal.renew(found.challenge)
  }

  const stopWatching = watchLogin(renewal, { log })
  if (asksForLogin(config)) void renewal.renew()
  return {
    value: createLoginHeader(renewal, access),
    refused({ status, wwwAuthenticate }, sent) {
      const challenge = engine.readChallenge(status, wwwAuthenticate)
      const { token, replacedAt } = renewal
      if (sent === undefined && (!challenge || token)) return token ? renewal.renew() : undefined
      if (status === 403) return challenge?.error === 'insufficient_scope' ? moreScopes(challenge) : undefined
      const rejected = sent?.replace(/^Bearer /, '')
      const isCurrent = token !== undefined && token.accessToken === rejected
      return isCurrent && Date.now() - replacedAt < REPLACE_MS
        ? Promise.resolve(TOKEN_REFUSED)
        : renewal.renew(challenge, rejected)
    },
    taken: () => undefined,
    lookAhead() {
      if (looksAhead && !asksForLogin(config)) lookAhead().catch(error => log.debug(messageOf(error)))
    },
    close() {
      closing.abort()
      access.close()
      renewal.close()
      stopWatching()
    },
  }
}
