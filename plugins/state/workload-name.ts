import type { Schema } from '../../src/lib/schema.ts'
import { toTextCheck } from '../../src/lib/text-schema.ts'
import { failures } from './failures.ts'

/** The schema of a workload name; `.` and `..` are refused too. */
export const workloadName: Schema<string> = {
  type: 'string',
  pattern: '^[a-zA-Z0-9._-]+$',
  minLength: 1,
  maxLength: 100,
  description: 'Letters, digits, ".", "_" and "-"',
}
const hasForm = toTextCheck(workloadName)

/** Whether the text may name a workload; such a name is safe as a file name too. */
export const isWorkloadName = (name: string): boolean => hasForm(name) && name !== '.' && name !== '..'

/** Fails with `invalid_name` unless the text may name a workload. */
export function assertWorkloadName(name: string): void {
  if (!isWorkloadName(name)) throw failures.invalid_name({ name: name.slice(0, 120) })
}
