import type { Variable } from '../page-types.d.ts'
import { Refusal } from './api.ts'
import { variableId } from './check-draft.ts'
import { draftOfVariables, type RunDraft, type VariableDraft } from './run-draft.ts'

type Rows = Pick<RunDraft, 'variables' | 'headers'>

/**
 * What a refusal says of single fields. A variable that was refused for having no value, and has no field yet, gets one
 * in the rows that are returned.
 */
export function refusedFields(error: unknown, rows: Rows): { rows: Rows; problems: Map<string, string> } {
  const problems = new Map<string, string>()
  if (!(error instanceof Refusal)) return { rows, problems }
  const missing = (error.body.missing ?? []) as readonly Variable[]
  if (error.status === 409 && error.body.code === undefined) problems.set('workload-name', error.message)
  const known = (row: VariableDraft) => missing.some(({ name }) => name === row.name)
  const all = [...rows.variables, ...rows.headers]
  const more = draftOfVariables(
    missing
      .filter(({ name }) => !all.some(row => row.name === name))
      .map(one => ({ ...one, required: true })),
  )
  const variables = [...rows.variables, ...more]
  for (const row of variables.filter(known)) problems.set(variableId('variable', row), 'A value is needed.')
  for (const row of rows.headers.filter(known)) problems.set(variableId('header', row), 'A value is needed.')
  return { rows: { ...rows, variables }, problems }
}
