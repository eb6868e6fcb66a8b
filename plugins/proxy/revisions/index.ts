import { INITIALIZE_2025, revision20251125 } from './2025-11-25/index.ts'
import { META_2026, META_UNKNOWN, revision20260728 } from './2026-07-28/index.ts'
import type { Revision } from './revision.ts'

export type { Revision }
export { INITIALIZE_2025, META_2026, META_UNKNOWN, revision20251125, revision20260728 }

/** The revisions whose clients have sessions, oldest first. */
export const SESSION_VERSIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

const revisions: readonly Revision[] = [revision20260728]

/** The revision a request announces; what announces nothing, or something older, is of the session era. */
export const revisionOf = (version: string | string[] | undefined): Revision =>
  (version !== undefined && revisions.find(revision => revision.version === version)) || revision20251125
