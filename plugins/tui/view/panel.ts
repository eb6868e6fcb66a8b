import type { Row, Workbench } from '../workbench.ts'

/** What each panel gets. */
export interface PanelProps {
  readonly bench: Workbench
  readonly row: Row
  /** In characters and lines. */
  readonly width: number
  readonly height: number
  /** Only what contains it is shown; empty: everything. */
  readonly search: string
  /** Whether keys go to the panel. */
  readonly isActive: boolean
  /** Gives the keys back to the list. */
  readonly onLeave: () => void
  /** Asks for a text to search for. */
  readonly onSearch: () => void
  /** Shows a message to the user. */
  readonly say: (text: string) => void
}

export const contains = (text: string, search: string): boolean =>
  text.toLowerCase().includes(search.toLowerCase())
