import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import type { MessageRouter } from './message-router.ts'

/** A stdio server behind the transport that clients speak. */
export interface BridgedServer {
  readonly router: MessageRouter
  /** Responds to one request on any of the MCP paths. */
  readonly handle: (exchange: Exchange, rewriting?: Rewriting) => Promise<void>
}
