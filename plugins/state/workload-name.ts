import type { Schema } from '../../src/lib/schema.ts'
import { failures } from './failures.ts'

const PATTERN = '^[a-zA-Z0-9._-]{1,100}$'
const NAME = new RegExp(PATTERN)

/** The schema of a workload name, for descriptions; `.` and `..` are refused too. */
export const workloadName: Schema<string> = { type: 'string', pattern: PATTERN, minLength: 1, maxLength: 100 }

/** Whether the text may name a workload; such a name is safe as a file name too. */
export const isWorkloadName = (name: string): boolean => NAME.test(name) && name !== '.' && name !== '..'

/** Fails with `invalid_name` unless the text may name a workload. */
export function assertWorkloadName(name: string): void {
  if (!isWorkloadName(name)) throw failures.invalid_name({ name: name.slice(0, 120) })
}
