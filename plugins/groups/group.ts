import * as t from 'typanion'
import { failures as core } from '../../src/errors.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { failures } from './failures.ts'

/** The group of workloads that name none. It is always there, and stays. */
export const DEFAULT_GROUP = 'default'

/** A group as its file holds it; names as ToolHive writes them. Its workloads are those whose run config names it. */
export interface Group {
  name: string
  /** Client applications that see the group's workloads. */
  registered_clients: string[]
  skills?: string[]
  plugins?: string[]
}

const NAME = /^[a-z0-9_-]+(?: [a-z0-9_-]+)*$/

/** Fails with `group_name_invalid` unless the text may name a group; such a name is safe as a file name too. */
export function assertGroupName(name: string): void {
  if (!NAME.test(name) || name.length > 100) throw failures.group_name_invalid({ name: name.slice(0, 120) })
}

const strings = t.isArray(t.isString())
const schema = t.isObject(
  {
    name: t.isString(),
    registered_clients: t.isOptional(t.isNullable(strings)),
    skills: t.isOptional(strings),
    plugins: t.isOptional(strings),
  },
  { extra: t.isUnknown() },
)

/** Turns the text of a group's file into a group. Unknown members are kept. */
export function parseGroup(text: string, path: string, name: string): Group {
  const group = parseDocument(text, path, schema)
  if (group.name !== name) throw core.invalid_file({ path, problem: `it names the group "${group.name}".` })
  return { ...group, registered_clients: group.registered_clients ?? [] } as Group
}
