import type { SyncResult } from './sync-skills.ts'

/** A result as it is shown: empty lists are left out, as ToolHive does. */
export const withoutEmpty = (result: SyncResult): Partial<SyncResult> =>
  Object.fromEntries(Object.entries(result).filter(([, list]) => list.length > 0))
