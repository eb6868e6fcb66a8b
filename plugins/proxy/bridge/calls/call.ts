import type { Notification, Response } from '../../../../src/net/rpc-message.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { Connection } from '../server/connection.ts'

/** Why a request gets no response of the server. */
export type CallFailure = 'timeout' | 'gone' | 'cancelled' | 'oversize'

/** The client's side of a call: where the response goes. */
export interface Reply {
  /** Sends a message that belongs to the request. False when this kind of response cannot carry one. */
  related(text: string): boolean
  /** Sends the response of the server. */
  respond(text: string): void
  /** In place of `respond`, where the response is written anew: takes it with the id that the server knows. */
  translate?(response: Response): void
  /** Sends an error in place of the response. */
  fail(failure: CallFailure): void
  /** Whether the client is connected. Not a getter: V8 keeps objects with one until a full collection. */
  attended(): boolean
  /** Sends a comment that keeps the connection open, where no other part of the bridge sends one. */
  keepAlive(): void
}

/** The rounds of a call whose server may want input first (MCP 2026-07-28, multi round-trip requests). */
export interface Rounds {
  /** Whether a response asks for input, so that the call goes on. */
  isInterim(response: Response): boolean
  /** Begins the next round with such a response. The call is parked. */
  begin(response: Response): void
}

/** A request that was sent to the server and waits for the response. */
export interface Call {
  /** The id and progress token that the server knows; never used again. Another one for each round. */
  id: number
  readonly method: string
  readonly session: Session | undefined
  /** The caller whose share of calls it counts towards; undefined for calls of the proxy. */
  readonly holder: string | undefined
  /** The id as the client wrote it. */
  readonly idText: string
  /** The progress token as the client wrote it. */
  readonly token: string | undefined
  /** Whether the server responds with a task, which goes on after the response (MCP 2025-11-25). */
  readonly task: boolean
  readonly reply: Reply
  /** The server process that the request was sent to. */
  peer: Connection
  /** Between two rounds: the server has responded, and the client is asked for input. */
  isParked: boolean
  /** Where the server may respond several times; undefined where the first response ends the call. */
  readonly rounds: Rounds | undefined
  readonly timeoutMs: number
  /** When the call times out, in milliseconds since the epoch. */
  deadline: number
  /** Since when the client is not connected, in milliseconds since the epoch. */
  unattendedSince: number | undefined
  /** What the server acknowledged of a subscription (MCP 2026-07-28, `subscriptions/listen`). */
  acknowledged?: Notification | undefined
  /** Called when the call has ended, in whatever way. */
  onEnd?: (() => void) | undefined
}

/** A client with calls in flight: a session, or a single call without a session. */
export type Party = { readonly session: Session } | { readonly call: Call }
