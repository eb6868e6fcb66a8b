import { Type } from 'typebox'
import { closed, optional, text } from './schema-shorthands.ts'

/** The 409 of operations that run a server of the registry: the mounts that it asks for and the user has not allowed. */
export const unacceptedPermissions = Type.Object(
  {
    code: text,
    message: text,
    wanted_permissions: optional(
      Type.Object(
        {
          server: text,
          hash: text,
          mounts: Type.Array(
            Type.Object(
              { source: text, target: text, access: Type.Enum(['read', 'write']), remark: optional(text) },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
  },
  { additionalProperties: true, description: 'Ask the user, and send `hash` as `accept_permissions`' },
)
