/** The latest time that a `Date` holds, in milliseconds since 1970. */
const LATEST = 8.64e15

/** When something ends that a server speaks of, in milliseconds since 1970; undefined for what is never. */
export const toEndTime = (ms: number): number | undefined => (ms <= LATEST ? ms : undefined)
