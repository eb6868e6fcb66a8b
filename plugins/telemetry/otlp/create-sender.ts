import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { trustedWith } from '../../../src/net/trusted-with.ts'

/** Sends serialized traces and metrics to a collector (OTLP 1.x over HTTP, binary Protobuf). */
export interface Sender {
  /** Resolves when the collector has taken it; fails with the reason that it has not, which was logged. */
  send(path: string, body: Uint8Array): Promise<void>
  /** Ends attempts that wait; what is sent later gets one attempt. */
  hurry(): void
  close(): Promise<void>
}

const ATTEMPT_MS = 10_000
const RETRY_MS = [1000, 3000]
/** OTLP specification, "Failures": all else is not sent again. */
const RETRYABLE = new Set([429, 502, 503, 504])

export function createSender(options: {
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  /** Certificates (PEM) that are trusted besides those of the system. */
  readonly ca: string | undefined
  readonly log: Log
}): Sender {
  const { base, headers, ca, log } = options
  const agent = new Agent({
    allowH2: false,
    connections: 2,
    ...(ca ? { connect: { ca: trustedWith(ca) } } : {}),
  })
  const hurry = new AbortController()
  /** Paths that did not take the last export. */
  const failing = new Set<string>()

  async function attempt(path: string, body: Uint8Array): Promise<string | undefined> {
    try {
      const response = await request(`${base}${path}`, {
        dispatcher: agent,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-protobuf' },
        body,
        signal: AbortSignal.timeout(ATTEMPT_MS),
      })
      await response.body.dump()
      const { statusCode: status } = response
      if (status >= 200 && status < 300) return undefined
      if (!RETRYABLE.has(status)) throw new Refused(`it responds ${status}`)
      return `it responds ${status}`
    } catch (error) {
      if (error instanceof Refused) throw error
      return messageOf(error)
    }
  }

  async function deliver(path: string, body: Uint8Array): Promise<void> {
    for (const wait of RETRY_MS) {
      if ((await attempt(path, body)) === undefined) return
      if (!hurry.signal.aborted)
        await delay(wait, undefined, { signal: hurry.signal, ref: false }).catch(() => {})
    }
    const problem = await attempt(path, body)
    if (problem !== undefined) throw new Error(problem)
  }

  return {
    async send(path, body) {
      try {
        await deliver(path, body)
        if (failing.delete(path)) log.info(`Telemetry is sent to ${base}${path} again.`)
      } catch (error) {
        if (!failing.has(path)) {
          log.warn(
            `Telemetry cannot be sent to ${base}${path}: ${messageOf(error)}. It is lost until that works.`,
          )
        }
        failing.add(path)
        throw error
      }
    },
    hurry: () => hurry.abort(),
    close: () => agent.destroy(),
  }
}

/** The collector does not want it. */
class Refused extends Error {}
