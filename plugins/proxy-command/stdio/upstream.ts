import type { Log } from '../../../src/log.ts'
import type { Message } from '../../../src/net/rpc-message.ts'
import type { Call, Calls } from './calls.ts'
import type { ClientSide } from './client-side.ts'
import type { SessionMemory } from './session-memory.ts'
import type { WorkloadRequests } from './workload-requests.ts'

/** The workload's side of `proxy stdio`. */
export interface Upstream {
  /**
   * Sends a message of the client; a request comes with its call. Resolves when the next message may be sent, so
   * that messages arrive in their order. Problems become responses to the client; it never rejects.
   */
  send(message: Message, call?: Call): Promise<void>
  /** Learns from a response. Returns what is written to the client. */
  onResponse(call: Call, text: string): string
  /** Ends the session. */
  close(): Promise<void>
}

export interface UpstreamOptions {
  readonly requests: WorkloadRequests
  readonly client: ClientSide
  readonly calls: Calls
  readonly memory: SessionMemory
  readonly log: Log
}
