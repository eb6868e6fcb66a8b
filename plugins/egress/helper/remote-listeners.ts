import { setTimeout as delay } from 'node:timers/promises'
import type { Helper } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { failures } from '../failures.ts'
import type { Policy } from '../policy.ts'
import type { EgressEvent, EgressListener, EgressListenerOptions } from '../proxy/egress-proxy.ts'
import type { HelperEvent, ListenerRequest } from './helper-protocol.ts'
import { type HelperSession, openSession } from './helper-session.ts'
import { createSharedSession } from './shared-session.ts'

/** Time between attempts to start a lost helper again, in milliseconds. */
const PAUSES_MS = [100, 500, 1000, 2000, 5000]
/** Attempts to listen: a program that has just lost its host may still hold the addresses for a moment. */
const TRIES = 20
const RETRY_MS = 250

type OpenOptions = Omit<EgressListenerOptions, 'helper'> & { readonly log: Log }
type OpenListener = { readonly workload: string; readonly request: () => ListenerRequest; readonly log: Log }

/** Egress listeners in the helper of one engine. */
export interface RemoteListeners {
  /** Fails with `egress_listener_unusable`. */
  open(options: OpenOptions): Promise<EgressListener>
  close(): Promise<void>
}

/**
 * Opens listeners in a helper. The program there starts with the first listener and ends with the last one.
 * When the helper or the engine is killed, the program is started again and gets every listener anew, with
 * retries. Meanwhile nothing can get out.
 */
export function createRemoteListeners(options: {
  helper: Helper
  program: () => Promise<string>
  ownAddresses: () => ReadonlySet<string>
  onDecision?: ((event: EgressEvent) => void) | undefined
}): RemoteListeners {
  const { helper, program, ownAddresses, onDecision } = options
  const listeners = new Map<string, OpenListener>()
  let isClosed = false
  let isReopening = false

  function onEvent(event: HelperEvent): void {
    if ('decision' in event) return void onDecision?.(event.decision)
    const { level, text, fields } = event.line
    const { workload, ...rest } = fields as { workload?: string }
    const listener = [...listeners.values()].find(one => one.workload === workload)
    listener?.log[level](text, rest)
  }

  const session = createSharedSession(
    async () => openSession(await helper.run(await program()), onEvent),
    reopenAll,
  )

  /** Retries until every listener is open again, or all are closed. */
  async function reopenAll(): Promise<void> {
    if (isReopening) return
    isReopening = true
    for (let step = 0; listeners.size > 0 && !isClosed; step++) {
      await delay(PAUSES_MS[Math.min(step, PAUSES_MS.length - 1)])
      try {
        const opened = await session.get()
        await Promise.all([...listeners].map(([id, listener]) => putListener(opened, id, listener)))
        break
      } catch (error) {
        if (step === 0) for (const { log } of listeners.values()) log.warn(`No way out: ${messageOf(error)}`)
      }
    }
    isReopening = false
  }

  async function drop(id: string): Promise<void> {
    listeners.delete(id)
    const opened = await session.peek()
    await opened?.call('DELETE', `/listeners/${encodeURIComponent(id)}`).catch(() => undefined)
    if (listeners.size > 0) return
    session.forget() // the next listener must not use the session that is ending
    opened?.end()
  }

  return {
    async open({ workload, policy: first, listen, peer, log }) {
      if (!('host' in listen)) throw new Error('a helper has no files of this host')
      let policy: Policy = first
      const request = (): ListenerRequest => ({
        workload,
        listen,
        ...(peer === undefined ? {} : { peer }),
        ...policy.source,
        forbidden: [...ownAddresses()],
      })
      const listener: OpenListener = { workload, request, log }
      const id = `${listen.host}:${listen.port}`
      listeners.set(id, listener)
      try {
        await putListener(await session.get(), id, listener)
      } catch (error) {
        await drop(id)
        const where = `${id} (in ${helper.name})`
        throw failures.egress_listener_unusable(
          { workload, where, problem: messageOf(error) },
          { cause: error },
        )
      }
      return {
        workload,
        listen,
        async update(next) {
          policy = next
          await putListener(await session.get(), id, listener)
        },
        connect: async (host, port) => (await session.get()).connect(host, port),
        close: () => drop(id),
      }
    },
    async close() {
      isClosed = true
      listeners.clear()
      const opened = await session.peek()
      opened?.end()
    },
  }
}

async function putListener(opened: HelperSession, id: string, { request }: OpenListener): Promise<void> {
  for (let left = TRIES; ; left--) {
    try {
      return await opened.call('PUT', `/listeners/${encodeURIComponent(id)}`, request())
    } catch (error) {
      if (left === 0 || !/EADDRINUSE|EADDRNOTAVAIL/.test(messageOf(error))) throw error
      await delay(RETRY_MS)
    }
  }
}
