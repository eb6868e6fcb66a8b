import type { Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'

/** What every tab of a workload is given. */
export interface PanelProps {
  readonly api: Api
  readonly workload: Workload
  /** Whether it is the tab that is chosen. */
  readonly isSeen: boolean
  /** Counts the connections to the server: with each, what was carried by the last one is opened again. */
  readonly connection: number
}
