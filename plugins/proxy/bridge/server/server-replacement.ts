import type { Candidate } from '../../../../src/contracts/pipeline.ts'
import type { Attachment } from '../../../../src/contracts/runtime.ts'
import { toRaw } from '../../../../src/lib/raw-json.ts'
import type { Log } from '../../../../src/log.ts'
import type { Availability } from '../../availability.ts'
import { untilDrained } from '../../backends/until-drained.ts'
import type { Calls } from '../calls/pending-calls.ts'
import type { Session, Sessions } from '../clients/client-sessions.ts'
import type { LogLevels } from '../clients/log-levels.ts'
import type { Subscriptions } from '../clients/subscriptions.ts'
import type { HeldListen } from '../older-clients/held-listen.ts'
import type { AskServer } from './ask-server.ts'
import { createStdioCandidate } from './check-stdio-candidate.ts'
import type { Handshake } from './handshake.ts'
import type { ServerConnections } from './server-connections.ts'
import type { ServerEras } from './server-eras.ts'
import type { ServerLink } from './server-link.ts'
import { createStreamLink } from './stream-link.ts'
import { waitForResponse } from './wait-for-response.ts'

/** Puts one server process after another behind the same sessions. */
export interface ServerReplacement {
  /** Connects a process; after a restart it is initialised as the one before was. */
  connect(link: ServerLink): void
  disconnect(reason: string): void
  /** As `Proxy.ready`. */
  ready(options: { timeoutMs: number; signal: AbortSignal; ping: boolean }): Promise<void>
  /** As `Proxy.checkCandidate`. */
  checkCandidate(
    attachment: Attachment,
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Candidate>
}

/** It is long because both ways to replace a process carry over the same state. */
export function createServerReplacement(options: {
  /** Of the workload. */
  name: string
  log: Log
  availability: Availability
  connections: ServerConnections
  eras: ServerEras
  handshake: Handshake
  held: HeldListen
  calls: Calls
  sessions: Sessions
  subscriptions: Subscriptions
  levels: LogLevels
  ask: AskServer
}): ServerReplacement {
  const {
    name,
    log,
    availability,
    connections,
    eras,
    handshake,
    held,
    calls,
    sessions,
    subscriptions,
    levels,
    ask,
  } = options

  function endSessions(why: string, isMeant = (_session: Session) => true): void {
    for (const session of [...sessions.all()]) if (isMeant(session)) sessions.close(session, why)
  }

  /** Waiting requests continue, unless the process has ended in the meantime. */
  function setAvailable(): void {
    if (connections.current.problem === undefined) availability.setAvailable()
  }

  /** Sends the subscriptions and the log level of the sessions to a new process. */
  function restoreSettings(): void {
    for (const uri of subscriptions.uris()) void ask('resources/subscribe', toRaw(JSON.stringify({ uri })))
    if (levels.lowest !== undefined) void ask('logging/setLevel', JSON.stringify({ level: levels.lowest }))
  }

  /** Initialises a restarted process as the one before was. */
  async function restore(): Promise<void> {
    availability.setUnavailable('it is starting')
    const restored = await handshake.replay()
    if (connections.current.problem !== undefined) return
    if (restored) {
      restoreSettings()
    } else {
      // What the sessions agreed on is lost: 404 makes their clients initialise again.
      log.warn('the new server process refused to be initialised as the old one was; sessions end')
      endSessions('the server was started again')
    }
    setAvailable()
  }

  return {
    connect(link) {
      connections.current.open(link)
      if (handshake.known && sessions.size > 0) return void restore()
      handshake.forget()
      setAvailable()
      held.reopen()
    },
    disconnect(reason) {
      connections.current.close(reason)
      availability.setUnavailable(reason)
    },
    ready: options => waitForResponse({ ...options, connection: connections.current, ask, eras }),
    async checkCandidate(attachment, { timeoutMs, signal }) {
      const candidate = createStdioCandidate(name, () => next.connection)
      const next = connections.addCandidate(candidate)
      next.connection.open(createStreamLink(attachment))
      let result: string | undefined
      try {
        result = await candidate.check({ initialize: handshake.offer, timeoutMs, signal })
      } catch (error) {
        next.connection.close('the candidate failed its check')
        throw error
      }
      return {
        async promote(patience) {
          const before = next.promote()
          handshake.adopt(result)
          endSessions(
            'the new server speaks the other era',
            session => !session.metadata !== (result !== undefined),
          )
          if (result !== undefined) restoreSettings()
          setAvailable()
          held.reopen()
          await untilDrained(() => calls.awaited(before) === 0, patience)
          before.close('the server was replaced')
        },
        discard: () => next.connection.close('the candidate was discarded'),
      }
    },
  }
}
