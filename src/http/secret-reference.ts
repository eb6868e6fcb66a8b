import { secretName, secretTarget } from '../contracts/secret-name.ts'
import { named, object } from '../lib/schema.ts'
import { orEmpty } from '../lib/text-schema.ts'

/** A reference to a secret in requests and details. Run configs have it as `NAME,target=VARIABLE`. */
export const secretReference = named(
  'SecretReference',
  object({ name: orEmpty(secretName), target: orEmpty(secretTarget) }),
)

/** Turns the reference of a run config into that of the details. */
export function toSecretReference(text: string): { name: string; target: string } {
  const at = text.lastIndexOf(',target=')
  return { name: text.slice(0, at), target: text.slice(at + ',target='.length) }
}
