import { closed, list, named, object, oneOf, optional, text } from '../lib/schema.ts'

/** The 409 of operations that run a server of the registry: the mounts that it asks for and the user has not allowed. */
export const unacceptedPermissions = named(
  'UnacceptedPermissions',
  object(
    {
      code: text,
      message: text,
      wanted_permissions: optional(
        object(
          {
            server: text,
            hash: text,
            mounts: list(
              object(
                { source: text, target: text, access: oneOf(['read', 'write']), remark: optional(text) },
                closed,
              ),
            ),
          },
          closed,
        ),
      ),
    },
    { additionalProperties: true, description: 'Ask the user, and send `hash` as `accept_permissions`' },
  ),
)
