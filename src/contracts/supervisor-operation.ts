/**
 * What other processes of the user ask the supervisor for, because it must be in the memory of one process. Plugins
 * contribute it (`provides.supervisorOperations`). Inputs and results are JSON values, which are logged nowhere.
 */
export interface SupervisorOperation {
  /** Unique; a part of a path. */
  readonly name: string
  /** What it fails with reaches the caller. */
  handle(input: unknown): Promise<unknown>
  /** While true, the supervisor does not end for lack of workloads. */
  isNeeded(): boolean
  /** The input for the same operation of the supervisor that replaces this one; undefined where there is nothing. */
  takeAlong(): unknown
}
