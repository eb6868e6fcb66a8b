import { Type } from 'typebox'

const closed = { additionalProperties: false }
const text = Type.String()
const optional = Type.Optional(text)

/** The 422 of operations that run a server of the registry: what it needs, and nobody has given. */
export const missingVariables = Type.Object(
  {
    code: text,
    message: text,
    registry: text,
    server: text,
    missing: Type.Array(
      Type.Object({ name: text, secret: Type.Boolean(), description: optional, stored: optional }, closed),
    ),
  },
  {
    ...closed,
    description: 'What is missing. `stored` is the name of a secret that may be given if the user agrees',
  },
)
