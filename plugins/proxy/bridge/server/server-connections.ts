import type { Log } from '../../../../src/log.ts'
import { idOfOversize } from '../../../../src/net/framing.ts'
import type { Message } from '../../../../src/net/rpc-message.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { ServerFlow } from '../clients/flow-control.ts'
import type { LimitedLog } from '../limited-log.ts'
import type { StdioCandidate } from './check-stdio-candidate.ts'
import { type Connection, createConnection } from './connection.ts'

/** The connections to the current server process and to a candidate. */
export interface ServerConnections {
  /** The connection to the process that receives the requests. */
  readonly current: Connection
  /** Sends one message, to the current process by default. False: nothing was sent. */
  write(text: string, peer?: Connection): boolean
  /** A connection whose output goes to the check of a candidate, until it is promoted. */
  addCandidate(candidate: StdioCandidate): CandidateConnection
}

export interface CandidateConnection {
  readonly connection: Connection
  /** Makes it the current connection; returns the one before. */
  promote(): Connection
}

export function createServerConnections(options: {
  limits: BridgeLimits
  flow: ServerFlow
  log: Log
  limitedLog: LimitedLog
  /** @param message as of `LinkEnd` */
  onMessage: (text: string, peer: Connection, message: Message | undefined) => void
  /** The response to the call of this id was too long. */
  onOversize: (callId: number, peer: Connection) => void
  /** The process has ended or was disconnected. */
  onGone: (peer: Connection, reason: string) => void
}): ServerConnections {
  const { limits, flow, log, limitedLog, onMessage, onOversize, onGone } = options

  function add(candidate?: StdioCandidate): { connection: Connection; promoted: () => void } {
    let checking = candidate
    const connection = createConnection({
      limits,
      flow,
      onMessage: (text, message) =>
        checking ? checking.receive(text) : onMessage(text, connection, message),
      onOversize(head, tail, bytes) {
        limitedLog.warn(`the server wrote a line of ${bytes} bytes; the limit is ${limits.maxLine}`, head)
        onOversize(Number(idOfOversize(head, tail)), connection)
      },
      onGone(reason, { wanted }) {
        log[wanted ? 'debug' : 'warn'](`the connection to the server is gone: ${reason}`)
        checking?.ended(reason)
        onGone(connection, reason)
      },
    })
    return {
      connection,
      promoted() {
        checking = undefined
      },
    }
  }

  let current = add().connection
  return {
    get current() {
      return current
    },
    write(text, peer = current) {
      const written = peer.write(text)
      if (!written && peer.problem === undefined)
        limitedLog.warn('the server does not read; a message was held back')
      return written
    },
    addCandidate(candidate) {
      const { connection, promoted } = add(candidate)
      return {
        connection,
        promote() {
          const before = current
          promoted()
          current = connection
          return before
        },
      }
    },
  }
}
