import type { Members, Schema } from '../lib/schema.ts'
import { httpFailures } from './failures.ts'

/** Fails with `body_invalid` naming the member that is wrong, never its value. */
export async function checkBody(schema: Schema, body: unknown): Promise<void> {
  const problem = await findProblem(schema, body)
  if (problem) throw httpFailures.body_invalid({ problem })
}

/**
 * Checks the texts among the parameters of a path or query. Numbers and truth values that make no sense count as not
 * given. Fails with `parameter_invalid` naming the parameter.
 */
export async function checkParameters(
  schemas: Members,
  values: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (const [name, schema] of Object.entries(schemas)) {
    if (schema.type !== 'string' || values[name] === undefined) continue
    const problem = await findProblem(schema, values[name])
    if (problem) throw httpFailures.parameter_invalid({ name, problem })
  }
}

/** What is wrong, as the end of a sentence, without the value. */
async function findProblem(schema: Schema, value: unknown): Promise<string | undefined> {
  const { Check, Errors } = await import('typebox/value') // on the first use: most servers are first asked to list
  if (Check(schema, value)) return undefined
  const [first] = Errors(schema, value)
  const form = first?.keyword === 'pattern' ? descriptionAt(schema, first.schemaPath) : undefined
  const isName = first?.schemaPath.endsWith('/propertyNames')
  // What stands in the place of a name may be a secret.
  const place = isName ? first?.instancePath.replace(/\/[^/]*$/, '') : first?.instancePath
  const member = place?.slice(1).replaceAll('/', '.')
  if (isName) return `${member || 'it'} has a name that must have this form: ${form ?? first?.message}`
  const what = form ? `must have this form: ${form}` : (first?.message ?? 'is not what is described')
  return `${member || 'it'} ${what}`
}

/** The description of the schema that an error points at, which says for people what its pattern says. */
function descriptionAt(schema: Schema, path: string): string | undefined {
  let at: unknown = schema
  for (const step of path.split('/').slice(1)) at = (at as Record<string, unknown> | undefined)?.[step]
  return (at as Schema | undefined)?.description
}
