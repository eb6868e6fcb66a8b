import { join } from 'node:path'
import { failures as core } from '../../src/errors.ts'
import { readFileIfThere } from '../../src/lib/atomic-file.ts'
import type { Paths } from '../../src/paths.ts'
import { failures } from './failures.ts'

const NAME = /^[a-z0-9_-]+(?: [a-z0-9_-]+)*$/

/** Fails unless the group exists; `default` always does. */
export async function assertGroup(paths: Paths, group: string): Promise<void> {
  if (!NAME.test(group)) {
    throw core.usage({
      text: `--group "${group}" is not a name for a group.`,
      hint: 'Use lower-case letters, digits, "_", "-" and single spaces between them.',
    })
  }
  if (group === 'default') return
  const file = await readFileIfThere(join(paths.state, 'groups', `${group}.json`))
  if (file === undefined) throw failures.group_unknown({ group })
}
