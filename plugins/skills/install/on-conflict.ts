/**
 * What a plan does with a folder that keelson did not write (a foreign one) or that was edited since. The
 * values that begin with `replace` also replace another installed version.
 */
export type OnConflict =
  | 'fail'
  /** Fails, but keeps edits of a version that stays. For skills that are only needed. */
  | 'keep-edits'
  /** Fails, but takes over a foreign folder with the same content. */
  | 'adopt-same'
  /** Takes over every foreign folder, and replaces its content; fails for edits. */
  | 'adopt'
  | 'replace'
  /** Replaces all but edits of a version that stays. */
  | 'replace-keep-edits'
  /** Replaces all but a foreign folder with the same content, which it takes over. */
  | 'replace-adopt-same'

const REPLACING: readonly OnConflict[] = ['replace', 'replace-keep-edits', 'replace-adopt-same']
const ADOPTING_SAME: readonly OnConflict[] = ['adopt-same', 'adopt', 'replace-adopt-same']
const KEEPING_EDITS: readonly OnConflict[] = ['keep-edits', 'replace-keep-edits']

/** Whether edits, foreign folders and other versions are replaced. */
export const isReplacing = (onConflict: OnConflict): boolean => REPLACING.includes(onConflict)

/** Whether a foreign folder with the same content is taken over as it is. */
export const adoptsSame = (onConflict: OnConflict): boolean => ADOPTING_SAME.includes(onConflict)

/** Whether edits of a version that stays are kept. */
export const keepsEdits = (onConflict: OnConflict): boolean => KEEPING_EDITS.includes(onConflict)

/** The same choice for a skill that is only needed by the one that was asked for. */
export const forNeeded = (onConflict: OnConflict): OnConflict =>
  isReplacing(onConflict) ? 'replace-keep-edits' : 'keep-edits'
