import type { AccessProblem } from '../../../src/contracts/pipeline.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { BearerChallenge } from '../oauth/types.ts'
import type { AccessStatus } from './access-status.ts'
import type { LoginToken } from './held-tokens.ts'
import type { LoginKeeper } from './login-keeper.ts'
import type { LoginPlace } from './login-parts.ts'
import { createRetryLadder } from './retry-ladder.ts'
import type { RetryTimes } from './retry-times.ts'

/** Failures after which the same may work a little later. */
const PASSING: ReadonlySet<string> = new Set(['remote_server_unreachable', 'remote_issuer_unreachable'])

/** The access token that a workload uses, and how it gets another one. */
export interface TokenRenewal {
  readonly token: LoginToken | undefined
  /** Where it is from; undefined until it is known where to log in. */
  readonly place: LoginPlace | undefined
  /** While a token is being got. */
  readonly running: Promise<AccessProblem | undefined> | undefined
  /** When a token was last asked for, in milliseconds since 1970. */
  readonly askedAt: number
  /** When a token that the server had refused was last replaced. */
  readonly replacedAt: number
  /** Gets another token than the rejected one, once for all who ask meanwhile. Resolves with why there is none. */
  renew(challenge?: BearerChallenge, rejected?: string): Promise<AccessProblem | undefined>
  /** False once the login of the token is over, in whatever process. */
  isCurrent(): boolean | Promise<boolean>
  /** Whether somebody has logged in, in whatever process, since no token could be got. */
  hasNewLogin(): Promise<boolean>
  close(): void
}

/** It is long because all of it reads and sets the one token, and when it was asked for. */
export function createTokenRenewal(options: {
  keeper: Pick<LoginKeeper, 'token' | 'isCurrent' | 'mark'>
  findPlace: (challenge: BearerChallenge | undefined) => Promise<LoginPlace>
  access: AccessStatus
  /** What to do about a login that is over. */
  hint: () => Promise<string>
  times: RetryTimes
  log: Log
}): TokenRenewal {
  const { keeper, findPlace, access, hint, times, log } = options
  const ladder = createRetryLadder(times, () => void renew())
  let place: LoginPlace | undefined
  let token: LoginToken | undefined
  let running: Promise<AccessProblem | undefined> | undefined
  let askedAt = 0
  let replacedAt = 0
  /** Of the login that was there when a token was last asked for. */
  let mark: string | undefined

  /**
   * A server that refuses the token may have moved to another provider. Keys and secrets of machines are read again:
   * nobody is there to give others.
   */
  async function placeNow(challenge: BearerChallenge | undefined): Promise<LoginPlace> {
    if (place && !challenge && !place.settings.isMachine) return place
    try {
      return await findPlace(challenge)
    } catch (error) {
      if (!place || place.settings.isMachine) throw error
      return place
    }
  }

  async function attempt(challenge?: BearerChallenge, rejected?: string): Promise<AccessProblem | undefined> {
    askedAt = Date.now()
    try {
      place = await placeNow(challenge)
      mark = await keeper.mark(place.key)
      const outcome = await keeper.token(place, { rejected })
      if ('token' in outcome) {
        token = outcome.token
        if (rejected !== undefined) replacedAt = Date.now()
        ladder.reset()
        return access.set(undefined)
      }
      const { problem, retryAfterMs } = outcome
      if (problem.status === 'auth_retrying') return tryLater(problem.reason, { rejected, retryAfterMs })
      token = undefined
      return access.set({ ...problem, reason: `${problem.reason} ${await hint()}` })
    } catch (error) {
      if (isFailure(error) && !PASSING.has(error.code)) {
        token = undefined
        return access.set({ status: 'unauthenticated', reason: error.message })
      }
      if (!isFailure(error)) log.error('The login failed.', { error: messageOf(error) })
      return tryLater(messageOf(error), { rejected })
    }
  }

  /** A token that the server has not refused is used up to its end. */
  function tryLater(
    reason: string,
    { rejected, retryAfterMs }: { rejected: string | undefined; retryAfterMs?: number | undefined },
  ): AccessProblem | undefined {
    if (rejected !== undefined || (token?.expiresAt ?? 0) <= Date.now()) token = undefined
    return access.set({ status: ladder.plan(retryAfterMs) ? 'auth_retrying' : 'unauthenticated', reason })
  }

  function renew(challenge?: BearerChallenge, rejected?: string): Promise<AccessProblem | undefined> {
    running ??= attempt(challenge, rejected).finally(() => {
      running = undefined
    })
    return running
  }

  return {
    get token() {
      return token
    },
    get place() {
      return place
    },
    get running() {
      return running
    },
    get askedAt() {
      return askedAt
    },
    get replacedAt() {
      return replacedAt
    },
    renew,
    isCurrent: () => (token && place ? keeper.isCurrent(place.key, token) : true),
    async hasNewLogin() {
      if (!place || token) return false
      const found = await keeper.mark(place.key)
      return found !== undefined && found !== mark
    },
    close: () => ladder.close(),
  }
}
