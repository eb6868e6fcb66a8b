import type { EntryKind } from './store.ts'

export type Capacity = Readonly<Record<EntryKind, number>>

/**
 * The most entries of each kind, so that strangers cannot fill the storage. Anybody can start a login (`pending`)
 * and register a client; the other kinds grow with what people have agreed to.
 */
export const CAPACITY: Capacity = {
  pending: 10_000,
  code: 10_000,
  client: 10_000,
  grant: 1_000_000,
  consent: 1_000_000,
  upstream: 1_000_000,
  used: 1_000_000,
}
