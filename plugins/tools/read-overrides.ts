import { describeJsonError } from '../../src/lib/json-error.ts'
import { parseObject } from '../../src/lib/parse-object.ts'
import type { TypeOf } from '../../src/lib/schema.ts'
import { findErrors } from '../../src/schema-check.ts'
import { readUserFile } from '../../src/user-file.ts'
import { failures } from './failures.ts'
import { overrides } from './section.ts'

/**
 * Reads a file of `--tools-override`: `{"toolsOverride": {"TOOL": {"name": …, "description": …}}}`. Fails with
 * `tools_file_invalid`.
 */
export async function readOverrides(path: string): Promise<TypeOf<typeof overrides>> {
  const text = await readUserFile(path, 'The --tools-override file')
  const document = parseObject(text)
  const wrong = (problem: string) => failures.tools_file_invalid({ path, problem })
  if (!document) throw wrong(describeJsonError(text))
  const found = document.toolsOverride
  if (typeof found !== 'object' || found === null) throw wrong('the member toolsOverride is missing')
  const problem = findErrors(overrides, found)
  if (problem !== undefined) throw wrong(problem)
  return found as TypeOf<typeof overrides>
}
