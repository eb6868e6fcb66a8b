import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A value that nobody can guess: 256 random bits, as text for URLs. */
export const randomToken = (): string => randomBytes(32).toString('base64url')

/** An identifier of 128 random bits. */
export const randomId = (): string => randomBytes(16).toString('base64url')

/** The SHA-256 of texts, as text for URLs. What the texts are cannot be moved from one to the next. */
export const hashOf = (...texts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url')

/** Compares in a time that says nothing of where the texts differ. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
