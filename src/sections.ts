import type { App } from './app.ts'
import type { RunConfig } from './contracts/run-config.ts'
import { assertEnforced } from './contracts/unenforced.ts'
import { failures } from './errors.ts'
import type { Schema } from './lib/schema.ts'
import type { Section } from './plugin.ts'
import { findErrors } from './schema-check.ts'

/**
 * Lets every plugin check its members, wherever the run config came from. Fails with `section_unenforced` for
 * members whose features no plugin has.
 */
export async function checkSections(app: App, config: RunConfig): Promise<void> {
  const sections = await app.contributions('sections')
  assertEnforced(config, new Set(sections.flatMap(({ members = {} }) => Object.keys(members))))
  for (const section of sections) checkSection(section, config)
}

/** Checks the members of one plugin. Throws a Failure naming the member that is wrong. */
export function checkSection({ members = {}, check }: Section, config: RunConfig): void {
  const values: Readonly<Record<string, unknown>> = { ...config }
  for (const [name, schema] of Object.entries(members)) assertMember(name, schema, values[name])
  check?.(config)
}

function assertMember(name: string, schema: Schema, value: unknown): void {
  const problem = value === undefined ? undefined : findErrors(schema, value)
  if (problem === undefined) return
  if (schema.type === 'boolean') throw failures.usage({ text: `${name} is true or false.` })
  if (schema.enum) throw failures.usage({ text: `${name} is one of ${schema.enum.join(', ')}.` })
  throw failures.usage({ text: `${name} is not valid: ${problem}` })
}
