import type { ClientInstanceFactory } from '../../../../src/contracts/pipeline.ts'
import { messageOf } from '../../../../src/errors.ts'
import type { Log } from '../../../../src/log.ts'
import { untilDrained } from '../../backends/until-drained.ts'
import type { SessionOwner } from '../../session-owner.ts'
import type { BridgedServer } from '../bridged-server.ts'
import { type ClientServer, createClientServer, type OwnRouterOptions } from './client-server.ts'
import { createInstanceSupply } from './instance-supply.ts'
import { createCrashLoops, type ProcessLimits, refusals } from './process-limits.ts'

/**
 * The processes of a stdio server that serve one client each. A process that has served somebody is ended, never
 * given to somebody else.
 */
export interface ClientServers {
  /** Starts the process of a client that begins a session. Refused with 503 beyond the limits. */
  start(owner: SessionOwner, idText: string | undefined): Promise<ClientServer>
  /** The process of a caller without a session, which all such requests of the caller share. */
  ofCaller(owner: string): Promise<ClientServer>
  /** The process with this session. Whose session it is, is for the session to tell. */
  ofSession(id: string): ClientServer | undefined
  all(): Iterable<ClientServer>
  /** Processes of clients, and those that wait for one. */
  readonly size: { readonly clients: number; readonly spare: number }
  /** From now on processes are started in this way; a spare one is. */
  use(spawn: ClientInstanceFactory | undefined): void
  /** As `use`; the processes there are end when they have responded, at the latest after `graceMs`. */
  replace(
    spawn: ClientInstanceFactory | undefined,
    patience: { graceMs: number; signal: AbortSignal },
  ): Promise<void>
  /** Ends the processes of callers without a session that were idle for long. */
  sweep(): void
  close(reason: string): Promise<void>
}

/** It is long because all of it reads and changes the one set of processes. */
export function createClientServers(options: {
  limits: ProcessLimits
  /** A client that was idle for this long may lose its process to another one, in milliseconds. */
  reclaimAfterMs: number
  /** A caller without a session keeps an idle process for this long, in milliseconds. */
  idleMs: number
  now: () => number
  log: Log
  open: (own: OwnRouterOptions) => BridgedServer
  /** Called when `size.clients` has changed. */
  onChange: () => void
}): ClientServers {
  const { limits, reclaimAfterMs, idleMs, now, log, open, onChange } = options
  /** One for each process, from before its start on. */
  const places = new Set<{ readonly owner: SessionOwner }>()
  const servers = new Set<ClientServer>()
  const bySession = new Map<string, ClientServer>()
  /** Of callers without a session. */
  const byCaller = new Map<SessionOwner, Promise<ClientServer>>()
  const loops = createCrashLoops(now)
  const ignore = () => undefined
  const supply = createInstanceSupply({ wantsSpare: limits.spares > 0, maxEnding: limits.max, log })
  let closed = false

  /** Ends the process whose client was idle for longest, if it was for long enough. */
  function reclaim(among: (server: ClientServer) => boolean): boolean {
    let victim: ClientServer | undefined
    for (const server of servers) {
      if (among(server) && server.idleMs >= (victim?.idleMs ?? reclaimAfterMs)) victim = server
    }
    void victim?.end('its process was needed')
    return victim !== undefined
  }

  function assertRoom(owner: SessionOwner, idText: string | undefined): void {
    const wait = loops.waitSeconds(owner)
    if (wait !== undefined) throw refusals.endsAgainAndAgain(wait, idText)
    const own = [...places].filter(place => place.owner === owner).length
    if (owner !== undefined && own >= limits.maxPerCaller && !reclaim(server => server.owner === owner)) {
      throw refusals.allOfCallerInUse(limits.maxPerCaller, idText)
    }
    if (places.size >= limits.max && !reclaim(() => true)) throw refusals.allInUse(limits.max, idText)
  }

  function keepSpare(): void {
    if (!closed) supply.keepSpare()
  }

  async function start(
    owner: SessionOwner,
    idText: string | undefined,
    { hasSession }: { hasSession: boolean },
  ): Promise<ClientServer> {
    assertRoom(owner, idText)
    const place = { owner }
    places.add(place)
    onChange()
    try {
      const spawned = await supply.take()
      const server = createClientServer(spawned, {
        owner,
        hasSession,
        now,
        open,
        onSession: ({ id }, own) => void bySession.set(id, own),
        onEnded(ended, { died, reason }) {
          if (died) loops.note(owner, now() - ended.startedAt)
          log.info(`The process of one client has ended: ${reason}`)
          servers.delete(ended)
          places.delete(place)
          onChange()
          if (ended.session) bySession.delete(ended.session.id)
          if (!hasSession)
            void byCaller.get(owner)?.then(own => own === ended && byCaller.delete(owner), ignore)
        },
      })
      servers.add(server)
      if (closed) await server.end('the proxy is closing')
      keepSpare()
      return server
    } catch (error) {
      places.delete(place)
      onChange()
      loops.note(owner, 0)
      log.warn(`The process of one client could not be started: ${messageOf(error)}`)
      throw refusals.notStarted(idText)
    }
  }

  return {
    start: (owner, idText) => start(owner, idText, { hasSession: true }),
    async ofCaller(owner) {
      const own = byCaller.get(owner) ?? start(owner, undefined, { hasSession: false })
      byCaller.set(owner, own)
      own.catch(() => byCaller.delete(owner))
      const server = await own
      server.noteUse()
      return server
    },
    ofSession: id => bySession.get(id),
    all: () => servers,
    get size() {
      return { clients: places.size, spare: supply.spares }
    },
    use(next) {
      supply.use(next)
      keepSpare()
    },
    async replace(next, patience) {
      const before = [...servers]
      supply.use(next)
      await supply.endSpare()
      keepSpare()
      await Promise.all(
        before.map(async server => {
          await untilDrained(() => server.router.calls.size === 0, patience)
          await server.end('the server was replaced')
        }),
      )
    },
    sweep() {
      for (const server of servers) {
        if (!server.session && server.idleMs > idleMs) void server.end('it was idle for too long')
      }
    },
    async close(reason) {
      closed = true
      await Promise.all([supply.endSpare(), ...[...servers].map(server => server.end(reason))])
    },
  }
}
