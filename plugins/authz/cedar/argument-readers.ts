import type { PolicyJson } from '@cedar-policy/cedar-wasm/web'
import { isObject } from '../../../src/lib/is-object.ts'
import { findReferences } from './find-references.ts'
import type { Policy } from './read-policies.ts'

/** A policy, and the arguments whose values or absence it looks at. */
export interface ArgumentReader {
  readonly id: string
  readonly json: PolicyJson
  readonly names: readonly string[] | 'all'
}

/** The policies that cannot be relied on for a call. */
export interface BlindPolicies {
  /** Without their conditions. */
  readonly forbids: Readonly<Record<string, PolicyJson>>
  readonly permits: readonly string[]
  /** An argument that they look at; one of a forbid, if there is one. */
  readonly argument: string
}

/** Prepares policies for `findBlind`. */
export const argumentReaders = (policies: readonly Policy[]): ArgumentReader[] =>
  policies.map(({ id, json }) => {
    const isForbid = json.effect === 'forbid'
    if (findReferences([json]).context === 'all') return { id, json, names: 'all' }
    const read = new Set(attributeNames(json.conditions))
    const names = [...read].flatMap(name => (name.startsWith('arg_') ? name.slice('arg_'.length) : []))
    // A permit that asks for the presence, too, says itself what it permits.
    const isTold = (name: string) => !isForbid && read.has(`arg_${name}_present`)
    return { id, json, names: names.filter(name => !isTold(name)) }
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

/** The policies that look at arguments whose values have no form in Cedar; undefined where none does. */
export function findBlind(
  readers: readonly ArgumentReader[],
  unseen: ReadonlySet<string>,
): BlindPolicies | undefined {
  if (unseen.size === 0) return undefined
  const [some] = unseen
  const found = readers.flatMap(({ id, json, names }) => {
    const argument = names === 'all' ? some : names.find(name => unseen.has(name))
    return argument === undefined ? [] : [{ id, json, argument }]
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
    argument: first.argument,
  }
}
