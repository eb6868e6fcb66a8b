import type { TypeAndId } from '@cedar-policy/cedar-wasm/web'
import { type AttributeReader, attributeReaders } from './attribute-readers.ts'
import { scopeEntities } from './expressions.ts'
import { findReferences, type References } from './find-references.ts'
import type { Cedar } from './load-cedar.ts'
import { toMatcher } from './match-like.ts'
import type { Policy } from './read-policies.ts'
import { uidKey } from './uid.ts'

/** The policies that can apply to an action and a resource. */
export interface PolicySlice {
  /** Under which Cedar has them. */
  readonly id: string
  readonly references: References
  /** The tests of names, ready to be used. */
  readonly nameTests: readonly ((name: string) => boolean)[] | undefined
  /** Whether the arguments of a call can change a decision. */
  readonly readsArguments: boolean
  /** Its policies, with the attributes that they look at. */
  readers(): readonly AttributeReader[]
}

export interface PolicySlices {
  of(action: TypeAndId, resource: TypeAndId): PolicySlice
  close(): void
}

let count = 0
/** Cedar forgets nothing, so ids of slices that are closed are used again. */
const free: string[] = []

/**
 * Parsed policies, sliced by what their scopes say: Cedar takes a time that grows with the number of policies. A policy
 * that is left out has a scope that the request cannot match. `hasActions`: whether actions have parents.
 */
export function createPolicySlices(
  cedar: Cedar,
  policies: readonly Policy[],
  { hasActions }: { hasActions: boolean },
): PolicySlices {
  const slices = new Map<string, PolicySlice>()
  const named = new Set(
    policies.flatMap(({ json }) =>
      json.resource.op === '==' ? scopeEntities(json.resource).map(uidKey) : [],
    ),
  )

  const fits = ({ json }: Policy, action: TypeAndId, resource: TypeAndId | undefined): boolean => {
    const actions = scopeEntities(json.action).map(uidKey)
    const canAct =
      json.action.op === 'All' || actions.includes(uidKey(action)) || (hasActions && json.action.op === 'in')
    if (!canAct) return false
    if (json.resource.op !== '==') return true
    return resource !== undefined && scopeEntities(json.resource).map(uidKey).includes(uidKey(resource))
  }

  function make(action: TypeAndId, resource: TypeAndId | undefined): PolicySlice {
    const fitting = policies.filter(policy => fits(policy, action, resource))
    const id = free.pop() ?? `keelson-${count++}`
    const parsed = cedar.preparsePolicySet(id, {
      staticPolicies: Object.fromEntries(fitting.map(policy => [policy.id, policy.text])),
    })
    if (parsed.type === 'failure') throw new Error(parsed.errors.map(({ message }) => message).join('; '))
    const references = findReferences(fitting.map(({ json }) => json))
    const readsArguments = [references.resource, references.context].some(
      read => read === 'all' || [...read].some(name => name.startsWith('arg_')),
    )
    let readers: readonly AttributeReader[] | undefined
    return {
      id,
      references,
      nameTests: references.nameTests?.map(toMatcher),
      readsArguments,
      readers() {
        readers ??= attributeReaders(fitting)
        return readers
      },
    }
  }

  return {
    of(action, resource) {
      const key = uidKey(resource)
      const isNamed = named.has(key)
      const name = isNamed ? `${uidKey(action)}\n${key}` : uidKey(action)
      const slice = slices.get(name) ?? make(action, isNamed ? resource : undefined)
      slices.set(name, slice)
      return slice
    },
    close() {
      for (const { id } of slices.values()) {
        cedar.preparsePolicySet(id, { staticPolicies: {} })
        free.push(id)
      }
      slices.clear()
    },
  }
}
