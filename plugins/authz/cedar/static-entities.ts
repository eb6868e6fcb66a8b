import type { EntityJson, TypeAndId } from '@cedar-policy/cedar-wasm/web'
import { messageOf } from '../../../src/errors.ts'
import type { Cedar } from './load-cedar.ts'
import { entitiesIn, toUid, uidKey } from './uid.ts'

/** The entities of a configuration, which are the same for every request. */
export interface StaticEntities {
  get(uid: TypeAndId): EntityJson | undefined
  /** Whether an entity is one of them, or one of them names it. */
  mentions(uid: TypeAndId): boolean
  /** The types of these, and of those that they name. */
  readonly types: ReadonlySet<string>
  /** Whether one of them has an attribute of this name. */
  hasAttribute(name: string): boolean
  /** Those that can be reached from an entity, without itself. */
  reachable(uid: TypeAndId): readonly EntityJson[]
}

/** Reads `entities_json`; returns the problem as a text where it is not a list of entities. */
export function readEntities(cedar: Cedar, text: string | null | undefined): StaticEntities | string {
  let entities: EntityJson[]
  try {
    entities = JSON.parse(text || '[]') as EntityJson[]
  } catch (error) {
    return `it is not JSON (${messageOf(error)})`
  }
  if (!Array.isArray(entities)) return 'it is not a list'
  try {
    const parsed = cedar.checkParseEntities({ entities })
    if (parsed.type === 'failure') return parsed.errors.map(({ message }) => message).join('; ')
  } catch (error) {
    return `it is nested too deep (${messageOf(error)})`
  }
  return createStaticEntities(entities)
}

function createStaticEntities(entities: readonly EntityJson[]): StaticEntities {
  const byKey = new Map(entities.map(entity => [uidKey(toUid(entity.uid)), entity]))
  const next = new Map(
    entities.map(({ uid, parents, attrs, tags }) => [
      uidKey(toUid(uid)),
      [...parents.map(toUid), ...entitiesIn(attrs), ...entitiesIn(tags)],
    ]),
  )
  const mentioned = new Set([...byKey.keys(), ...[...next.values()].flat().map(uidKey)])
  const known = new Map<string, readonly EntityJson[]>()

  function reachable(uid: TypeAndId): readonly EntityJson[] {
    const start = uidKey(uid)
    if (!mentioned.has(start)) return []
    const before = known.get(start)
    if (before) return before
    const found = new Set([start])
    for (const key of found) for (const other of next.get(key) ?? []) found.add(uidKey(other))
    found.delete(start)
    const reached = [...found].flatMap(key => byKey.get(key) ?? [])
    known.set(start, reached)
    return reached
  }

  return {
    get: uid => byKey.get(uidKey(uid)),
    types: new Set(
      [...entities.map(({ uid }) => toUid(uid)), ...[...next.values()].flat()].map(({ type }) => type),
    ),
    mentions: uid => mentioned.has(uidKey(uid)),
    hasAttribute: name => entities.some(({ attrs }) => Object.hasOwn(attrs, name)),
    reachable,
  }
}
