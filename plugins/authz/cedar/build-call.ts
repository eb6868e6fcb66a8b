import type {
  CedarValueJson,
  EntityJson,
  StatefulAuthorizationCall,
  TypeAndId,
} from '@cedar-policy/cedar-wasm/web'
import { OPERATIONS, type Use } from '../decider.ts'
import type { Read } from './find-references.ts'
import type { PolicySlice } from './policy-slices.ts'
import type { Principal } from './principal.ts'
import type { StaticEntities } from './static-entities.ts'
import { toArgumentAttributes } from './to-values.ts'
import { uidKey } from './uid.ts'

export const ACTIONS = { tool: 'call_tool', prompt: 'get_prompt', resource: 'read_resource' } as const
/** By action, the type of what it is about. */
export const ABOUT: Readonly<Record<string, string>> = {
  call_tool: 'Tool',
  get_prompt: 'Prompt',
  read_resource: 'Resource',
}
const TYPES = { tool: 'Tool', prompt: 'Prompt', resource: 'Resource' } as const

type Attributes = Readonly<Record<string, CedarValueJson>>

export const actionOf = ({ feature }: Use): TypeAndId => ({ type: 'Action', id: ACTIONS[feature] })
export const resourceOf = ({ feature, id }: Use): TypeAndId => ({ type: TYPES[feature], id })

/** What is the same for all requests. */
export interface Surroundings {
  readonly entities: StaticEntities
  /** The name of the workload. */
  readonly server: string
  /** The type of groups. */
  readonly groupType: string
}

/**
 * The name in place of that of a resource which no policy and no entity names, and whose name nothing reads: decisions
 * about such resources are the same. A name of a server cannot be mistaken for it, as it stands for all of these.
 */
const ANY = ''

/** Whether all that the policies can see of the resource are its attributes. */
export function isAnonymous(use: Use, { references }: PolicySlice, { entities }: Surroundings): boolean {
  const isNamed = (uid: TypeAndId) => references.entities.has(uidKey(uid)) || entities.mentions(uid)
  const any = { ...resourceOf(use), id: ANY }
  return references.resource !== 'all' && !isNamed(resourceOf(use)) && !isNamed(any)
}

/** Makes the question for Cedar, with only the attributes and entities that the policies can see. */
export function buildCall(
  principal: Principal,
  use: Use,
  slice: PolicySlice,
  surroundings: Surroundings,
): StatefulAuthorizationCall {
  const { entities, server, groupType } = surroundings
  const { references } = slice
  const action = actionOf(use)
  const resource = isAnonymous(use, slice, surroundings) ? { ...resourceOf(use), id: ANY } : resourceOf(use)
  const caller: TypeAndId = { type: 'Client', id: principal.id }
  const groups = principal.groups.map(id => ({ type: groupType, id }))
  const mcp: TypeAndId = { type: 'MCP', id: server }
  const args = toArgumentAttributes(use.arguments)
  const own = [
    toEntity(caller, only(principal.attributes, references.principal), groups, entities.get(caller)),
    toEntity(
      resource,
      only({ ...args, ...entities.get(resource)?.attrs, ...standard(use) }, references.resource),
      [mcp],
      entities.get(resource),
    ),
  ]
  const starts = [caller, resource, mcp, action, ...groups, ...references.entities.values()]
  return {
    principal: caller,
    action,
    resource,
    context: only({ ...args, ...principal.attributes }, references.context),
    preparsedPolicySetId: slice.id,
    entities: withReachable(own, starts, entities),
  }
}

function standard({ feature, id, hints }: Use): Attributes {
  return {
    name: id,
    operation: OPERATIONS[feature],
    feature,
    ...(feature === 'resource' ? { uri: id } : {}),
    ...hints,
  }
}

const only = (attributes: Attributes, read: Read): Record<string, CedarValueJson> =>
  read === 'all'
    ? attributes
    : Object.fromEntries(
        [...read].flatMap(name => {
          const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
          return value === undefined ? [] : [[name, value]]
        }),
      )

/** An entity of the request, with what the configuration says of it besides. */
const toEntity = (
  uid: TypeAndId,
  attributes: Attributes,
  parents: readonly TypeAndId[],
  known: EntityJson | undefined,
): EntityJson => ({
  uid,
  attrs: { ...known?.attrs, ...attributes },
  parents: [...parents, ...(known?.parents ?? [])],
  ...(known?.tags ? { tags: known.tags } : {}),
})

function withReachable(
  own: readonly EntityJson[],
  starts: readonly TypeAndId[],
  entities: StaticEntities,
): EntityJson[] {
  const all = new Map(own.map(entity => [uidKey(entity.uid as TypeAndId), entity]))
  for (const start of starts) {
    const itself = entities.get(start)
    for (const entity of itself ? [itself, ...entities.reachable(start)] : []) {
      const key = uidKey('__entity' in entity.uid ? entity.uid.__entity : entity.uid)
      if (!all.has(key)) all.set(key, entity)
    }
  }
  return [...all.values()]
}
