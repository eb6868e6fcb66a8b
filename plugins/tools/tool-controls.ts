import type { MiddlewareContext } from '../../src/contracts/pipeline.ts'
import type { Settings } from './selection.ts'

/** What can be done with the tools of a workload while its proxy is open. */
export interface ToolControl {
  readonly listTools: MiddlewareContext['listTools']
  /** Shows clients other tools from now on. Sessions, and calls that were passed on already, go on. */
  select(settings: Settings): void
}

/** The open proxies of this process, by name of the workload. */
export type ToolControls = Map<string, ToolControl>
