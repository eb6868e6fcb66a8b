import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { Decision, Exchange } from '../../src/contracts/pipeline.ts'

/** What policies are asked about. */
export type Feature = 'tool' | 'prompt' | 'resource'

/** What a caller wants to use. */
export interface Use {
  readonly feature: Feature
  /** The name of the tool or prompt, or the URI of the resource, as the server knows it. */
  readonly id: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  readonly hints?: ToolHints | undefined
}

/** The annotations of a tool that policies may look at. What the server says of itself, no more. */
export type ToolHints = Readonly<Partial<Record<(typeof HINTS)[number], boolean>>>
export const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

export const OPERATIONS = { tool: 'call', prompt: 'get', resource: 'read' } as const

/** Who waits for a decision: the signal aborts when they go away. That of an exchange is made when it is read. */
export type Asker = Pick<Exchange, 'signal'>

/** Decides by one version of the policies. No function throws; what goes wrong denies. */
export interface Decider {
  /** Whether the annotations of a tool could change what is decided about its use. */
  readsHints(use: Use): boolean
  decide(caller: Caller, use: Use, asker: Asker): Promise<Decision> | Decision
  /** The same for each item of a list, in its order. */
  decideAll(
    caller: Caller,
    uses: readonly Use[],
    asker: Asker,
  ): Promise<readonly boolean[]> | readonly boolean[]
  close(): void
}
