import type { RunConfig } from './run-config.ts'
import type { RunOptions } from './run-options.ts'
import type { WaitOptions } from './runtime.ts'
import type { Ask } from './target.ts'

/** What a plugin adds to the making of a run config, once its target is resolved and all of it is checked. */
export interface Preparation {
  /** Completes the run config; it is saved by nobody yet, and may still hold plain secrets. */
  complete?(config: RunConfig, context: PreparationContext): Promise<RunConfig>
  /** Called right before the run config is saved: puts what must not be in it somewhere else. */
  conceal?(config: RunConfig): Promise<RunConfig>
  /** Undoes `conceal`, for a copy under another name: puts what was stored elsewhere back into the run config. */
  reveal?(config: RunConfig): Promise<RunConfig>
}

export interface PreparationContext extends WaitOptions {
  readonly options: RunOptions
  /** Whether somebody has typed a command, whose environment counts then. */
  readonly typed: boolean
  /** Whether the calling process will host the workload. */
  readonly foreground: boolean
  /** Tells the person something that stays on the terminal; absent where nobody has typed a command. */
  readonly say?: ((text: string) => void) | undefined
  /** Asks the person at the terminal; undefined when there is none. */
  readonly ask?: Ask | undefined
}
