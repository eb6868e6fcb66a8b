import { type Message, readMessage } from '../../../../src/net/rpc-message.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { ServerFlow } from '../clients/flow-control.ts'
import type { LinkEnd, ServerLink } from './server-link.ts'

/** The connection to a server. After a crash of its process it is opened again with the next one. */
export interface Connection {
  /** Why no server is connected; undefined while one is. */
  readonly problem: string | undefined
  /** Bytes the server has not taken yet. */
  readonly queued: number
  /** How many messages were sent to the connected server. */
  readonly sent: number
  /** Resolves when the connected server has responded to a request, or sent any other response. */
  readonly responded: Promise<void>
  /** Called for each response of the server. */
  noteResponse(): void
  /**
   * Sends one message. False when no server is connected or too much waits: nothing was sent.
   *
   * @param read as of `ServerLink`
   */
  write(text: string, read?: () => Message | undefined): boolean
  open(link: ServerLink): void
  close(reason: string): void
}

export function createConnection(options: {
  limits: BridgeLimits
  flow: ServerFlow
  onMessage: LinkEnd['onMessage']
  onOversize: LinkEnd['onOversize']
  /** `wanted`: the bridge closed the connection, and the server did not end by itself. */
  onGone: (reason: string, options: { wanted: boolean }) => void
}): Connection {
  const { limits, flow, onMessage, onOversize, onGone } = options
  let current: ServerLink | undefined
  let problem: string | undefined = 'the server has not started yet'
  let sent = 0
  let responded = Promise.withResolvers<void>()

  function drop(link: ServerLink, reason: string, { wanted }: { wanted: boolean }): void {
    if (current !== link) return
    current = undefined
    problem = reason
    link.close()
    onGone(reason, { wanted })
  }

  return {
    get problem() {
      return problem
    },
    get queued() {
      return current?.queued ?? 0
    },
    get sent() {
      return sent
    },
    get responded() {
      return responded.promise
    },
    noteResponse: () => responded.resolve(),
    write(text, read = () => readMessage(text)) {
      if (!current || current.queued > limits.maxQueuedBytes) return false
      current.send(text, read)
      sent += 1
      return true
    },
    open(link) {
      if (current) drop(current, 'the server was replaced', { wanted: true })
      current = link
      problem = undefined
      sent = 0
      responded = Promise.withResolvers()
      link.open({
        limits,
        flow,
        onMessage(text, message) {
          if (current === link) onMessage(text, message)
        },
        onOversize,
        onEnd: reason => drop(link, reason, { wanted: false }),
      })
    },
    close(reason) {
      if (current) drop(current, reason, { wanted: true })
      problem = reason
    },
  }
}
