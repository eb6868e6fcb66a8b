import type { PolicyJson } from '@cedar-policy/cedar-wasm/web'
import { isObject } from '../../../src/lib/is-object.ts'
import { findReferences } from './find-references.ts'
import type { Policy } from './read-policies.ts'

/** A policy, and the attributes of callers and of arguments whose values or absence it looks at. */
export interface AttributeReader {
  readonly id: string
  readonly json: PolicyJson
  readonly names: readonly string[] | 'all'
}

/** Attributes that have no value in Cedar, each with what it is in words. */
export type Unseen = ReadonlyMap<string, string>

/** The policies that cannot be relied on for a use. */
export interface BlindPolicies {
  /** Without their conditions. */
  readonly forbids: Readonly<Record<string, PolicyJson>>
  readonly permits: readonly string[]
  /** What they look at, in words; what a forbid looks at, if there is one. */
  readonly what: string
}

/** Prepares policies for `findBlind`. */
export const attributeReaders = (policies: readonly Policy[]): AttributeReader[] =>
  policies.map(({ id, json }) => {
    const isForbid = json.effect === 'forbid'
    if (findReferences([json]).context === 'all') return { id, json, names: 'all' }
    const read = new Set(attributeNames(json.conditions))
    // A permit that asks for the presence, too, says itself what it permits.
    const isTold = (name: string) => !isForbid && name.startsWith('arg_') && read.has(`${name}_present`)
    return { id, json, names: [...read].filter(name => !isTold(name)) }
  })

/** The names of all attributes, of whatever they are: one of an entity is read by its name alone. */
function* attributeNames(node: unknown): Generator<string> {
  if (Array.isArray(node)) for (const item of node) yield* attributeNames(item)
  if (!isObject(node)) return
  for (const [kind, body] of Object.entries(node)) {
    if (kind === 'Value') continue
    if ((kind === '.' || kind === 'has') && isObject(body)) yield* [body.attr].flat().map(String)
    yield* attributeNames(body)
  }
}

/** The policies that look at attributes without a value in Cedar; undefined where none does. */
export function findBlind(readers: readonly AttributeReader[], unseen: Unseen): BlindPolicies | undefined {
  const [some = ''] = unseen.values()
  const found = readers.flatMap(({ id, json, names }) => {
    const name = names === 'all' ? undefined : names.find(one => unseen.has(one))
    if (names !== 'all' && name === undefined) return []
    return [{ id, json, what: unseen.get(name ?? '') ?? some }]
  })
  const [permits, forbids] = [
    found.filter(({ json }) => json.effect === 'permit'),
    found.filter(({ json }) => json.effect === 'forbid'),
  ]
  const [first] = [...forbids, ...permits]
  if (!first) return undefined
  return {
    forbids: Object.fromEntries(forbids.map(({ id, json }) => [id, { ...json, conditions: [] }])),
    permits: permits.map(({ id }) => id),
    what: first.what,
  }
}
