import type { PolicyJson, TypeAndId } from '@cedar-policy/cedar-wasm/web'
import { isObject } from '../../../src/lib/is-object.ts'
import { toUid } from './uid.ts'

/** Parts of policies in the JSON form of Cedar: https://docs.cedarpolicy.com/policies/json-format.html */

export type Variable = 'principal' | 'action' | 'resource' | 'context'

const VARIABLES = new Set(['principal', 'action', 'resource', 'context'])

const memberOf = (node: unknown, name: string): unknown => (isObject(node) ? node[name] : undefined)

/** The variable that an expression is; undefined where it is something else. */
export function variableOf(node: unknown): Variable | undefined {
  const name = memberOf(node, 'Var')
  return typeof name === 'string' && VARIABLES.has(name) ? (name as Variable) : undefined
}

/** The value that is written there. */
export const literalOf = (node: unknown): unknown => memberOf(node, 'Value')

/** Whether an expression is an entity, or a set of entities, that is written in the policy. */
export function isEntityLiteral(node: unknown): boolean {
  const set = memberOf(node, 'Set')
  return Array.isArray(set) ? set.every(isEntityLiteral) : memberOf(literalOf(node), '__entity') !== undefined
}

/** Attributes that say how a resource is called. */
export const NAMES = new Set(['name', 'uri'])

/** The attribute of `resource` that an expression reads, if that is its name. */
export function nameRead(node: unknown): string | undefined {
  const access = memberOf(node, '.')
  const attribute = memberOf(access, 'attr')
  const isName = variableOf(memberOf(access, 'left')) === 'resource' && NAMES.has(attribute as string)
  return isName ? (attribute as string) : undefined
}

/** The entities in the scope of a policy: its principal, action or resource. */
export function scopeEntities(
  scope: PolicyJson['principal'] | PolicyJson['action'] | PolicyJson['resource'],
): TypeAndId[] {
  if ('entities' in scope) return scope.entities.map(toUid)
  if ('entity' in scope) return [toUid(scope.entity)]
  if ('in' in scope && scope.in && 'entity' in scope.in) return [toUid(scope.in.entity)]
  return []
}

/** The attributes of variables that are read (`.`) or asked for (`has`), at any depth. */
export function* attributesRead(
  node: unknown,
): Generator<{ kind: '.' | 'has'; variable: Variable; attribute: string }> {
  if (Array.isArray(node)) for (const item of node) yield* attributesRead(item)
  if (!isObject(node)) return
  for (const [kind, body] of Object.entries(node)) {
    const variable = isObject(body) ? variableOf(body.left) : undefined
    if (isObject(body) && variable && (kind === '.' || kind === 'has')) {
      const attribute = Array.isArray(body.attr) ? body.attr[0] : body.attr
      if (typeof attribute === 'string') yield { kind, variable, attribute }
    } else if (kind !== 'Value') yield* attributesRead(body)
  }
}
