import type { ToolResult } from './tool-result.ts'

/** What the steps of a workflow may do. What is aborted rejects with the reason of its signal. */
export interface Actions {
  /** Calls a tool in the name of the caller. Rejects when there is no result. */
  call(tool: string, args: unknown, signal: AbortSignal): Promise<ToolResult>
  /** Undefined where no server lists the tool. */
  describe(tool: string): Promise<ToolDefinition | undefined>
  /** Asks the person at the client. Rejects when the client cannot be asked. */
  ask(message: string, schema: unknown, signal: AbortSignal): Promise<Answer>
}

/** What a server says of a tool (`Tool` of MCP). */
export interface ToolDefinition {
  readonly inputSchema?: unknown
  readonly annotations?: Annotations
}

export interface Annotations {
  readonly readOnlyHint?: unknown
  readonly destructiveHint?: unknown
  readonly idempotentHint?: unknown
  readonly openWorldHint?: unknown
}

/** The response to an elicitation (`ElicitResult` of MCP). */
export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: unknown
}

/** What became of a step; templates see it as `.steps.ID`. */
export interface StepResult {
  readonly status: 'completed' | 'failed' | 'skipped'
  readonly output?: unknown
  /** The content blocks of the tool's result. */
  readonly content?: readonly unknown[]
  readonly error?: string
}

/** What one step is run with. */
export interface StepRun {
  /** What its templates see. */
  readonly data: Readonly<Record<string, unknown>>
  readonly actions: Actions
  readonly signal: AbortSignal
}
