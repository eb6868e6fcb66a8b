import type { EntityUidJson, TypeAndId } from '@cedar-policy/cedar-wasm/web'
import { isObject } from '../../../src/lib/is-object.ts'

/** A key that two entities share only when they are the same: names of types have no quotes. */
export const uidKey = ({ type, id }: TypeAndId): string => `${type}"${id}`

export const toUid = (uid: EntityUidJson): TypeAndId => ('__entity' in uid ? uid.__entity : uid)

/** Finds the entities in a value of Cedar's JSON, at any depth. */
export function* entitiesIn(value: unknown): Generator<TypeAndId> {
  if (Array.isArray(value)) for (const item of value) yield* entitiesIn(item)
  if (!isObject(value)) return
  const { __entity: entity } = value
  if (isObject(entity) && typeof entity.type === 'string' && typeof entity.id === 'string') {
    yield { type: entity.type, id: entity.id }
  } else for (const member of Object.values(value)) yield* entitiesIn(member)
}
