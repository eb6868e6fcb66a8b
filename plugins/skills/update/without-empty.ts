import type { SyncResult } from './sync-skills.ts'

/** Returns a result without its empty lists, as ToolHive's API does. */
export const withoutEmpty = (result: SyncResult): Partial<SyncResult> =>
  Object.fromEntries(Object.entries(result).filter(([, list]) => list.length > 0))
