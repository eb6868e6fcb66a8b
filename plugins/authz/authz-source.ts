import type { AuthzConfig } from './authz-config.ts'

/** A line and a column of the file of `--authz-config`. Both count from 1, columns in UTF-16 units. */
export interface FilePosition {
  readonly line: number
  readonly column: number
}

/** A configuration, and where it is from. */
export interface AuthzSource {
  readonly authz: AuthzConfig
  /** For people: the path of the file, or the member of the run config. */
  readonly where: string
  /**
   * Where the character at an offset of a text in `cedar.policies` (by its index) stands in the file. Returns undefined
   * where there is no file, or nobody can tell.
   */
  locate(index: number, offset: number): FilePosition | undefined
}
