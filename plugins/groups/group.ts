import { groupName } from '../../src/contracts/group-name.ts'
import { failures as core } from '../../src/errors.ts'
import { nullable, type ObjectOf, object, optional, text, texts } from '../../src/lib/schema.ts'
import { toTextCheck } from '../../src/lib/text-schema.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { failures } from './failures.ts'

/** The group of workloads that name none. It is always there, and stays. */
export const DEFAULT_GROUP = 'default'

/** The members of a group, with ToolHive's names. Its workloads are those whose run config names it. */
export const groupMembers = {
  name: text,
  /** Client applications that see the group's workloads. */
  registered_clients: texts,
  skills: optional(texts),
  plugins: optional(texts),
}

/** A group as its file holds it. */
export interface Group extends ObjectOf<typeof groupMembers> {}

const isGroupName = toTextCheck(groupName)

/** Fails with `group_name_invalid` unless the text may name a group; such a name is safe as a file name too. */
export function assertGroupName(name: string): void {
  if (!isGroupName(name)) throw failures.group_name_invalid({ name: name.slice(0, 120) })
}

const schema = object({ ...groupMembers, registered_clients: optional(nullable(texts)) })

/** Turns the text of a group's file into a group. Unknown members are kept. */
export function parseGroup(content: string, path: string, name: string): Group {
  const group = parseDocument(content, path, schema)
  if (group.name !== name) throw core.invalid_file({ path, problem: `it names the group "${group.name}".` })
  return { ...group, registered_clients: group.registered_clients ?? [] }
}
