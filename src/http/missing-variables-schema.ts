import { bool, closed, list, named, object, optional, text } from '../lib/schema.ts'

/** The 422 of operations that run a server of the registry: the variables that it needs and that were not given. */
export const missingVariables = named(
  'MissingVariables',
  object(
    {
      code: text,
      message: text,
      registry: text,
      server: text,
      missing: list(
        object({ name: text, secret: bool, description: optional(text), stored: optional(text) }, closed),
      ),
    },
    {
      ...closed,
      description: 'What is missing. `stored` is the name of a secret that may be given if the user agrees',
    },
  ),
)
