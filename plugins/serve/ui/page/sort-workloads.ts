import type { Workload } from '../page-types.d.ts'
import { rankOf } from './status.tsx'

/** “a10” stands behind “a9”. */
const { compare } = new Intl.Collator('en', { numeric: true })

const byName = (one: Workload, other: Workload): number => compare(one.name, other.name)

/** What the list can be sorted by, and how that is called. Equal ones are sorted by name. */
export const SORTS = {
  name: ['By name', byName],
  status: ['By status, worst first', (one, other) => rankOf(one.status) - rankOf(other.status)],
  port: ['By port', (one, other) => one.port - other.port],
  newest: ['Newest first', (one, other) => timeOf(other.created_at) - timeOf(one.created_at)],
  started: ['Last started first', (one, other) => timeOf(other.started_at) - timeOf(one.started_at)],
} as const satisfies Readonly<
  Record<string, readonly [title: string, order: (one: Workload, other: Workload) => number]>
>

export type SortKey = keyof typeof SORTS

export const sortWorkloads = (workloads: readonly Workload[], key: SortKey): Workload[] =>
  workloads.toSorted((one, other) => SORTS[key][1](one, other) || byName(one, other))

const timeOf = (text: string): number => Date.parse(text) || 0
