/** What one benchmark measured. */
export interface Result {
  readonly name: string
  /** Each figure with, in its name, its unit and the bound it is held to. */
  readonly figures: Readonly<Record<string, number | string>>
  /** Whether every bound is kept. */
  readonly ok: boolean
}
