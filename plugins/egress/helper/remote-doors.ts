import { setTimeout as delay } from 'node:timers/promises'
import type { Helper } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { failures } from '../failures.ts'
import type { Policy } from '../policy.ts'
import type { Door, DoorOptions, EgressEvent } from '../proxy/egress-proxy.ts'
import { type HelperSession, openSession } from './session.ts'
import type { DoorRequest, Told } from './wire.ts'

/** Between tries to get a lost helper back. */
const PAUSES_MS = [100, 500, 1000, 2000, 5000]
/** A program that has just lost its host may hold the addresses a moment longer. */
const TRIES = 20
const RETRY_MS = 250

type OpenOptions = Omit<DoorOptions, 'via'> & { readonly log: Log }
type Standing = { readonly workload: string; readonly request: () => DoorRequest; readonly log: Log }

/** Doors that stand in the helper of one engine. */
export interface RemoteDoors {
  /** Fails with `door_unusable`. */
  open(options: OpenOptions): Promise<Door>
  close(): Promise<void>
}

/**
 * Opens doors in a helper. The program there is started with the first door and ends with the last; when
 * it is lost, be it that the helper or the engine was killed, it is started anew and told of every door,
 * until it is there. Meanwhile nothing leads out.
 */
export function createRemoteDoors(options: {
  helper: Helper
  program: () => Promise<string>
  ownAddresses: () => ReadonlySet<string>
  onDecision?: ((event: EgressEvent) => void) | undefined
}): RemoteDoors {
  const { helper, program, ownAddresses, onDecision } = options
  const doors = new Map<string, Standing>()
  let current: Promise<HelperSession> | undefined
  let isClosed = false
  let isSearching = false

  function onTold(told: Told): void {
    if ('decision' in told) return void onDecision?.(told.decision)
    const { level, text, fields } = told.line
    const { workload, ...rest } = fields as { workload?: string }
    const door = [...doors.values()].find(one => one.workload === workload)
    door?.log[level](text, rest)
  }

  function session(): Promise<HelperSession> {
    if (current) return current
    const made = begin()
    current = made
    const forget = () => {
      if (current === made) current = undefined
    }
    made.then(({ ended }) => ended.then(forget).then(getBack), forget)
    return made
  }

  const begin = async () => openSession(await helper.run(await program()), onTold)

  /** Until every door is open again, or nobody wants them any more. */
  async function getBack(): Promise<void> {
    if (isSearching) return
    isSearching = true
    for (let step = 0; doors.size > 0 && !isClosed; step++) {
      await delay(PAUSES_MS[Math.min(step, PAUSES_MS.length - 1)])
      try {
        const opened = await session()
        await Promise.all([...doors].map(([id, door]) => put(opened, id, door)))
        break
      } catch (error) {
        if (step === 0) for (const { log } of doors.values()) log.warn(`No way out: ${messageOf(error)}`)
      }
    }
    isSearching = false
  }

  async function put(opened: HelperSession, id: string, { request }: Standing): Promise<void> {
    for (let left = TRIES; ; left--) {
      try {
        return await opened.call('PUT', `/doors/${encodeURIComponent(id)}`, request())
      } catch (error) {
        if (left === 0 || !/EADDRINUSE|EADDRNOTAVAIL/.test(messageOf(error))) throw error
        await delay(RETRY_MS)
      }
    }
  }

  async function drop(id: string): Promise<void> {
    doors.delete(id)
    const opened = await current?.catch(() => undefined)
    await opened?.call('DELETE', `/doors/${encodeURIComponent(id)}`).catch(() => undefined)
    if (doors.size > 0) return
    current = undefined // whoever opens the next door does not get the one that is ending
    opened?.end()
  }

  return {
    async open({ workload, policy: first, listen, peer, log }) {
      if (!('host' in listen)) throw new Error('a helper has no files of this host')
      let policy: Policy = first
      const request = (): DoorRequest => ({
        workload,
        listen,
        ...(peer === undefined ? {} : { peer }),
        ...policy.source,
        forbidden: [...ownAddresses()],
      })
      const door: Standing = { workload, request, log }
      const id = `${listen.host}:${listen.port}`
      doors.set(id, door)
      try {
        await put(await session(), id, door)
      } catch (error) {
        await drop(id)
        const where = `${id} (in ${helper.name})`
        throw failures.door_unusable({ workload, where, problem: messageOf(error) }, { cause: error })
      }
      return {
        workload,
        listen,
        async update(next) {
          policy = next
          await put(await session(), id, door)
        },
        lead: async (host, port) => (await session()).lead(host, port),
        close: () => drop(id),
      }
    },
    async close() {
      isClosed = true
      doors.clear()
      const opened = await current?.catch(() => undefined)
      opened?.end()
    },
  }
}
