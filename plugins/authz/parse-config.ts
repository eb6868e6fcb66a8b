import { messageOf } from '../../src/errors.ts'
import { findErrors } from '../../src/schema-check.ts'
import { readUserFile } from '../../src/user-file.ts'
import { assertUsable } from './assert-usable.ts'
import { type AuthzConfig, authzConfig } from './authz-config.ts'
import type { AuthzSource } from './authz-source.ts'
import { failures } from './failures.ts'

const MOST_BYTES = 1024 * 1024

/** Reads a file of `--authz-config`, JSON or YAML. Fails with `authz_config_invalid`, or as `readUserFile` does. */
export async function readConfigFile(path: string): Promise<AuthzSource> {
  return parseConfig(
    await readUserFile(path, 'The --authz-config file', { most: MOST_BYTES, pipes: false }),
    path,
  )
}

/** JSON is YAML, too, except for repeated members, which YAML refuses. */
export async function parseConfig(text: string, where: string): Promise<AuthzSource> {
  const wrong = (problem: string) => failures.authz_config_invalid({ where, problem })
  const [{ parseYamlNodes }, { createLocator }] = await Promise.all([
    import('../../src/lib/parse-yaml.ts'),
    import('./locate-in-yaml.ts'),
  ])
  let parsed: ReturnType<typeof parseYamlNodes>
  try {
    parsed = parseYamlNodes(text)
  } catch (error) {
    throw wrong(onOneLine(messageOf(error)))
  }
  const problem = findErrors(authzConfig, parsed.value)
  if (problem !== undefined) throw wrong(problem)
  const authz = parsed.value as AuthzConfig
  assertUsable(authz, where)
  const locator = createLocator(text, parsed.document)
  return {
    authz,
    where,
    locate: (index, offset) => locator.locate(['cedar', 'policies', index], offset),
  }
}

/** Without the excerpt that shows where in the text it is. */
const onOneLine = (text: string): string => (text.split('\n', 1)[0] as string).replace(/[:.]$/, '')
