/** Sorted by id, in byte order. */
export const byId = <T>(all: readonly T[], idOf: (item: T) => string): T[] =>
  all.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
