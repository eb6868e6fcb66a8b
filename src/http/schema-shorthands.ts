import { Type } from 'typebox'

// Short names for what the schemas of operations consist of.

export const text = Type.String()
export const texts = Type.Array(text)
export const bool = Type.Boolean()
export const optional = Type.Optional

/** Options of an object schema that has no members but those it names. */
export const closed = { additionalProperties: false }
