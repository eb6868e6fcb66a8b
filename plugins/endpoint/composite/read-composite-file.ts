import { messageOf } from '../../../src/errors.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { failures } from '../failures.ts'
import { readWorkflows } from './check-workflow.ts'
import type { Workflow } from './workflow.ts'

const MOST_BYTES = 1024 * 1024

/**
 * Reads the workflows of a file: those of `compositeTools` in a configuration of ToolHive's vMCP, a list of them, or a
 * single one; YAML or JSON. Fails with `composite_tools_invalid`, or as `readUserFile` does.
 */
export async function readCompositeFile(path: string): Promise<Workflow[]> {
  const text = await readUserFile(path, 'The --composite-tools file', { most: MOST_BYTES })
  const wrong = (problem: string) => failures.composite_tools_invalid({ path, problem })
  const { parseYaml } = await import('../../../src/lib/parse-yaml.ts')
  try {
    return readWorkflows(toList(parseYaml(text)))
  } catch (error) {
    throw wrong(messageOf(error).split('\n', 1)[0] ?? '')
  }
}

function toList(value: unknown): unknown {
  if (!isObject(value)) return value
  return 'compositeTools' in value ? value.compositeTools : [value]
}
