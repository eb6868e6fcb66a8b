import type { Instance } from '../../src/contracts/runtime.ts'
import type { Dialect } from './dialect.ts'
import type { EngineCli } from './engine-cli.ts'

/** How long either way may take to start an instance, in milliseconds. */
export const START_MS = 60_000

export interface AttachOptions {
  readonly dialect: Dialect
  readonly cli: EngineCli
  /** The environment of the engine's program, which says where its engine is. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly before: Pick<Instance, 'id' | 'name' | 'startedAt'>
  readonly inspect: () => Promise<Instance | undefined>
  /** Returns what the engine prints for `infoArguments`. */
  readonly info: () => Promise<unknown>
}
