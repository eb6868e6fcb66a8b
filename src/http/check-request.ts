import type { Schema } from '../lib/schema.ts'
import { httpFailures } from './failures.ts'

/** Fails with `body_invalid` naming the member that is wrong, never its value. */
export async function checkBody(schema: Schema, body: unknown): Promise<void> {
  const { Check, Errors } = await import('typebox/value') // on the first body: most servers are first asked to list
  if (Check(schema, body)) return
  const [first] = Errors(schema, body)
  const member = first?.instancePath.slice(1)
  throw httpFailures.body_invalid({
    problem: `${member ? `${member} ` : 'it '}${first?.message ?? 'is not what is described'}`,
  })
}
