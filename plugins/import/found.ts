import type { RunConfig } from '../../src/contracts/run-config.ts'

/** A run config as another tool's file says it, before anything is checked. Its name is the one that it gets here. */
export type Draft = Partial<RunConfig> & Pick<RunConfig, 'name'>

/** A server of another tool's configuration. */
export interface Found {
  /** What the other tool calls it. */
  readonly name: string
  /** Absent where `problem` says why nothing can be made of it. */
  readonly draft?: Draft
  readonly problem?: string
  /** What is not carried over, each with the reason. */
  readonly left: readonly string[]
}

/** The name as a workload may have it: what it may not have becomes `-`. */
export const toWorkloadName = (name: string): string =>
  name
    .replace(/[^a-zA-Z0-9._-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')
    .slice(0, 100) || 'server'
