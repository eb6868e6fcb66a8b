import { HINTS } from '../decider.ts'
import { ABOUT, type Surroundings } from './build-call.ts'

/** The name of a type in a schema of Cedar. */
export type CedarType = string

/** What a claim, or an argument of an unknown tool, can be. */
export const ANY_TYPE: readonly CedarType[] = [
  'String',
  'Long',
  'Bool',
  'decimal',
  'Set<String>',
  'Set<Long>',
]

/** What is known of attributes whose types the entity model does not say. */
export interface Attributes {
  /** By the names of claims and arguments that a policy reads. */
  readonly types: ReadonlyMap<string, CedarType>
  /** Names that the policy asks for with `has`. */
  readonly optional: ReadonlySet<string>
}

/** The entity model of docs/authorization.md in the schema language of Cedar, where only one action is asked for. */
export function toSchema(asked: string, { types, optional }: Attributes, around: Surroundings): string {
  const member = (name: string, type: CedarType) =>
    `${JSON.stringify(name)}${optional.has(name) ? '?' : ''}: ${type}`
  const members = (isIncluded: (name: string) => boolean) =>
    [...types].filter(([name]) => isIncluded(name)).map(([name, type]) => member(name, type))
  const isArgument = (name: string) => name.startsWith('arg_')
  const claims = members(name => !isArgument(name))
  const args = asked === 'read_resource' ? [] : members(isArgument)
  const named = ['"name": String', '"operation": String', '"feature": String']
  const shapes: Readonly<Record<string, readonly string[]>> = {
    Client: claims,
    Tool: [...named, ...HINTS.map(hint => member(hint, 'Bool')), ...args],
    Prompt: [...named, ...args],
    Resource: [...named, '"uri": String'],
    MCP: [],
    [around.groupType]: [],
  }
  const own = around.entities.types
  const all = [...new Set([...Object.keys(shapes), ...own])]
  const parentsOf = (type: string): readonly string[] => {
    if (own.size) return all
    if (type === 'Client') return [around.groupType]
    return type === 'Tool' || type === 'Prompt' || type === 'Resource' ? ['MCP'] : []
  }
  const entities = all.map(
    type => `entity ${type} in [${parentsOf(type).join()}] { ${(shapes[type] ?? []).join()} };`,
  )
  const actions = Object.entries(ABOUT).map(([action, type]) =>
    action === asked
      ? `action "${action}" appliesTo { principal: [Client], resource: [${type}], context: { ${[...claims, ...args].join()} } };`
      : `action "${action}";`,
  )
  return [...entities, ...actions].join('\n')
}
