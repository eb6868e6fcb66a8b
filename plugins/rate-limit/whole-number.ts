import type { Schema } from '../../src/lib/schema.ts'

type Range = Schema<number> & { readonly minimum: number; readonly maximum: number }

/** The schema of a whole number in a range. */
export const within = (minimum: number, maximum: number): Range => ({ type: 'integer', minimum, maximum })

export const isWithin = ({ minimum, maximum }: Range, value: number): boolean =>
  Number.isInteger(value) && value >= minimum && value <= maximum
