import { isFailure } from '../../src/errors.ts'
import { isObject } from '../../src/lib/is-object.ts'
import type { Finding, LintServer } from './cedar/lint-policies.ts'
import type { ArgumentTypes } from './cedar/validate-policy.ts'
import { readConfigFile } from './parse-config.ts'

/** Finds what is wrong with a file of `--authz-config`; policies that cannot be parsed are found alone. */
export async function lintFile(
  file: string,
  server: LintServer | undefined,
): Promise<readonly (Finding | { readonly problem: string })[]> {
  try {
    const source = await readConfigFile(file)
    const { cedar } = source.authz
    if (!cedar) return []
    const [{ readCedar }, { lintPolicies }] = await Promise.all([
      import('./cedar/read-cedar.ts'),
      import('./cedar/lint-policies.ts'),
    ])
    return lintPolicies(await readCedar(cedar, { server: server?.name ?? '', source }), server)
  } catch (error) {
    if (!isFailure(error, 'authz_config_invalid')) throw error
    return [{ problem: error.message }]
  }
}

/** By type in JSON Schema, what policies see of an argument. */
const SEEN: Readonly<Record<string, readonly string[]>> = {
  string: ['String'],
  boolean: ['Bool'],
  integer: ['Long'],
  number: ['Long', 'decimal'],
  array: [],
  object: [],
}

/** What policies see of the arguments of a JSON Schema, as far as it says one type of each. */
export function argumentTypesOf(schema: unknown): ArgumentTypes {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) => {
      const type = isObject(member) && typeof member.type === 'string' ? member.type : ''
      return Object.hasOwn(SEEN, type) ? [[name, SEEN[type] as readonly string[]]] : []
    }),
  )
}

/** The names of the arguments that a JSON Schema has; undefined where others are allowed, too. */
export function argumentsOf(schema: unknown): readonly string[] | undefined {
  const { properties, additionalProperties, ...others } = isObject(schema) ? schema : {}
  const isOpen = additionalProperties !== undefined && additionalProperties !== false
  const isComposed = ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties'].some(name => name in others)
  return isObject(properties) && !isOpen && !isComposed ? Object.keys(properties) : undefined
}
