const ASSERTED = 'assertion:'

/** Returns who an assertion is about. Issuers cannot name each other's subjects, nor a person of the upstream provider. */
export const assertedSubject = (issuer: string, subject: string): string =>
  `${ASSERTED}${encodeURIComponent(issuer)}:${subject}`

/** Whether a subject looks like that of an assertion. */
export const looksAsserted = (subject: string): boolean => subject.startsWith(ASSERTED)
