import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Api, HttpEvent } from '../../../src/http/api.ts'
import { clean } from '../../../src/lib/printable.ts'
import { failures } from '../failures.ts'
import { findPlaceOf, logInAnew } from '../logins/log-in-again.ts'
import type { LoginPlace } from '../logins/login-parts.ts'
import { waitMsOf } from '../logins/login-settings.ts'
import type { LoginStep, Person } from '../oauth/types.ts'

/** How long another process may keep a login waiting, in milliseconds. */
const TURN_MS = 20_000
/** How long it may take until nobody listens for the browser any more, in milliseconds. */
const CLOSE_MS = 3000

/** A login that waits for a person with a browser. */
export interface WaitingLogin {
  /** http or https. */
  readonly url: string
  /** What the person types there (RFC 8628). */
  readonly user_code?: string
  readonly expires_at: string
}

/** The logins that were begun over HTTP and have not ended. One at a time for all workloads that share it. */
export interface BegunLogins {
  /**
   * Begins a login for a workload, unless one is under way: then it is that one. Undefined: somebody else has logged
   * in meanwhile. Fails with `login_busy`, or as `findPlaceOf` and `logInAnew`.
   */
  begin(name: string, signal: AbortSignal): Promise<WaitingLogin | undefined>
  /** Nothing happens where no login is under way. */
  cancel(name: string): Promise<void>
  /** Reports `login-ended` with the name of the workload, and the problem if there was one. */
  subscribe(hear: (event: HttpEvent) => void): Promise<() => void>
}

interface Attempt {
  readonly key: string
  /** The workloads that it was begun for. */
  readonly names: Set<string>
  readonly waiting: Promise<WaitingLogin | undefined>
  readonly stop: AbortController
  readonly ended: Promise<void>
}

export function createBegunLogins(app: App, api: Pick<Api, 'background' | 'signal'>): BegunLogins {
  const attempts = new Map<string, Attempt>()
  const listeners = new Set<(event: HttpEvent) => void>()

  function tell(names: Iterable<string>, problem: string | undefined): void {
    for (const name of names) {
      const data = { name, ...(problem === undefined ? {} : { problem: clean(problem) }) }
      for (const hear of listeners) hear({ name: 'login-ended', data })
    }
  }

  function start(place: LoginPlace, config: RunConfig): Attempt {
    const names = new Set<string>()
    const stop = new AbortController()
    const signal = AbortSignal.any([api.signal, stop.signal])
    const shown = Promise.withResolvers<WaitingLogin | undefined>()
    const person = personElsewhere(place, waitMsOf(config.remote_auth_config ?? {}), shown.resolve)
    const turn = setTimeout(() => {
      giveUp(attempt)
      shown.reject(failures.login_busy({ issuer: place.discovery.issuer }))
    }, TURN_MS)
    const finish = (problem?: string) => {
      clearTimeout(turn)
      forget(attempt)
      tell(names, problem)
    }
    const ended = logInAnew(
      app,
      { ...place, reach: { ...place.reach, signal } },
      { person, config, signal },
    ).then(
      () => finish(),
      error => {
        finish(signal.aborted ? 'The login was cancelled.' : messageOf(error))
        shown.reject(error)
        if (!signal.aborted) throw error
      },
    )
    const waiting = shown.promise.finally(() => clearTimeout(turn))
    waiting.catch(() => undefined) // the caller may have gone away
    ended.then(
      () => shown.resolve(undefined),
      () => undefined,
    )
    api.background(`The login of ${config.name}`, () => ended)
    const attempt: Attempt = { key: place.key, names, waiting, stop, ended }
    return attempt
  }

  function forget(attempt: Attempt): void {
    if (attempts.get(attempt.key) === attempt) attempts.delete(attempt.key)
  }

  /** It may wait for another program for a while yet, and then does nothing. */
  function giveUp(attempt: Attempt): void {
    attempt.stop.abort()
    forget(attempt)
  }

  const attemptOf = (name: string) => [...attempts.values()].find(({ names }) => names.has(name))

  return {
    async begin(name, signal) {
      const there = attemptOf(name)
      if (there) return there.waiting
      const { config, place } = await findPlaceOf(app, name, signal)
      const attempt = attempts.get(place.key) ?? start(place, config)
      attempts.set(place.key, attempt)
      attempt.names.add(name)
      return attempt.waiting
    },
    async cancel(name) {
      const attempt = attemptOf(name)
      if (!attempt) return
      giveUp(attempt)
      await Promise.race([attempt.ended.catch(() => undefined), delay(CLOSE_MS, undefined, { ref: false })])
    },
    async subscribe(hear) {
      listeners.add(hear)
      return () => listeners.delete(hear)
    },
  }
}

/** Takes what the engine shows for opened: the browser is wherever the request came from. */
function personElsewhere(
  { discovery }: LoginPlace,
  waitMs: number,
  show: (waiting: WaitingLogin) => void,
): Person {
  const until = (ms: number) => new Date(ms).toISOString()
  return {
    show(step: LoginStep) {
      if (step.kind === 'browser') return show({ url: step.url, expires_at: until(Date.now() + waitMs) })
      const { completeUrl, url, userCode, expiresAt } = step
      show({ url: completeUrl ?? url, user_code: userCode, expires_at: until(expiresAt) })
    },
    // Without this, a device code is what the engine takes.
    ...(discovery.server.authorization_endpoint ? { openBrowser: async () => true } : {}),
  }
}
