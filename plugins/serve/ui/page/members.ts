export type Members = Readonly<Record<string, unknown>>

/** The members of what may be an object. */
export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {}
