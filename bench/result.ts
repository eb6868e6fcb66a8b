/** What one benchmark measured. */
export interface Result {
  readonly name: string
  /** Which process has which core, and what else the machine did. */
  readonly conditions: string
  /** How many single measurements the figures rest on; a benchmark without any has failed. */
  readonly measured: number
  /** Each figure with, in its name, its unit and the bound it is held to. */
  readonly figures: Readonly<Record<string, number | string>>
  /** Whether every bound is kept. */
  readonly ok: boolean
}
