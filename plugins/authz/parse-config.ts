import { messageOf } from '../../src/errors.ts'
import { findErrors } from '../../src/schema-check.ts'
import { readUserFile } from '../../src/user-file.ts'
import { assertUsable } from './assert-usable.ts'
import { type AuthzConfig, authzConfig } from './authz-config.ts'
import { failures } from './failures.ts'

/** Reads a file of `--authz-config`, JSON or YAML. Fails with `authz_config_invalid`, or as `readUserFile` does. */
export async function readConfigFile(path: string): Promise<AuthzConfig> {
  return parseConfig(await readUserFile(path, 'The --authz-config file'), path)
}

/** JSON is YAML, too, except for repeated members, which YAML refuses. */
export async function parseConfig(text: string, where: string): Promise<AuthzConfig> {
  const wrong = (problem: string) => failures.authz_config_invalid({ where, problem })
  const { parseYaml } = await import('../../src/lib/parse-yaml.ts')
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    throw wrong(onOneLine(messageOf(error)))
  }
  const problem = findErrors(authzConfig, value)
  if (problem !== undefined) throw wrong(problem)
  const config = value as AuthzConfig
  assertUsable(config, where)
  return config
}

/** Without the excerpt that shows where in the text it is. */
const onOneLine = (text: string): string => (text.split('\n', 1)[0] as string).replace(/[:.]$/, '')
