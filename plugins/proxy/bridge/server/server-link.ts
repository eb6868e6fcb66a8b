import type { Message } from '../../../../src/net/rpc-message.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { ServerFlow } from '../clients/flow-control.ts'

/** The way to a server: the streams of a process, or messages that are handed over as they are. */
export interface ServerLink {
  /** Bytes of messages that the server has not taken. */
  readonly queued: number
  /** Begins to deliver what the server sends. */
  open(to: LinkEnd): void
  /** @param read reads the message; a link calls it that has to know what the message says */
  send(text: string, read: () => Message | undefined): void
  /** Nothing is delivered any more. The server is not stopped. */
  close(): void
}

/** The bridge's end of a link. */
export interface LinkEnd {
  readonly limits: Pick<BridgeLimits, 'maxLine'>
  readonly flow: ServerFlow
  /** @param message where the text was read before */
  onMessage(text: string, message?: Message): void
  /** A message was too long, and is lost but for its first and last bytes. */
  onOversize(head: string, tail: string, bytes: number): void
  onEnd(reason: string): void
}
