import { secretTarget } from '../../src/contracts/secret-name.ts'
import { assertVariableName } from '../../src/contracts/variables.ts'
import { toTextCheck } from '../../src/lib/text-schema.ts'
import { failures } from './failures.ts'

/** Which secret becomes which environment variable. */
interface SecretReference {
  readonly name: string
  readonly target: string
}

const isTarget = toTextCheck(secretTarget)

/** Reads `NAME,target=VARIABLE`. Fails with `secret_reference_invalid` and `env_refused`. */
function parseReference(text: string): SecretReference {
  const [, name, target] = /^([^,]+),target=(.+)$/s.exec(text) ?? []
  if (name === undefined || target === undefined || !isTarget(target))
    // Only the beginning is shown: what stands behind may be a value, written there by mistake.
    throw failures.secret_reference_invalid({ reference: text.replace(/([=,]).*/s, '$1…') })
  assertVariableName(target)
  return { name, target }
}

/** Reads all of them. Fails with `secret_target_twice` when two want the same variable. */
export function parseReferences(texts: readonly string[]): SecretReference[] {
  const references = texts.map(parseReference)
  const targets = new Set<string>()
  for (const { target } of references) {
    if (targets.has(target)) throw failures.secret_target_twice({ target })
    targets.add(target)
  }
  return references
}

/** Whether a reference is to that secret; one that cannot be read is to none. */
export const refersTo = (text: string, name: string): boolean => text.startsWith(`${name},target=`)
