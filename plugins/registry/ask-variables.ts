import type { Ask } from '../../src/contracts/target.ts'
import { isYes } from '../../src/lib/is-yes.ts'
import type { EnvVar } from './formats/server-facts.ts'
import { consentQuestion, valueQuestion } from './questions.ts'
import type { Origin, ServerSecrets } from './server-secrets.ts'

/** A required variable that has no value yet. */
export interface Needed extends EnvVar {
  /** Name of a stored secret that may be meant, which the user has not agreed to give. */
  readonly stored?: string | undefined
}

export interface Answers {
  readonly values: ReadonlyMap<string, string>
  /** Names of secrets by variable. */
  readonly secrets: ReadonlyMap<string, string>
}

/**
 * Asks the user for each variable. For a secret it first asks whether to give the stored one, then for a value,
 * which is stored for this server. Asks nothing when a secret could not be stored.
 */
export async function askVariables(
  needed: readonly Needed[],
  { origin, store, ask }: { origin: Origin; store: ServerSecrets | undefined; ask: Ask | undefined },
): Promise<Answers> {
  const values = new Map<string, string>()
  const secrets = new Map<string, string>()
  const canStore = (await store?.canStore()) === true
  const cannotStore = needed.some(({ secret, stored }) => secret && !stored && !canStore)
  if (!ask || cannotStore) return { values, secrets }

  for (const variable of needed) {
    const { name, secret, stored } = variable
    if (store && stored && isYes(await ask(consentQuestion(origin, variable, stored)))) {
      await store.agree(name, stored)
      secrets.set(name, stored)
      continue
    }
    if (secret && !canStore) continue
    const answer = (await ask(valueQuestion(origin, variable), { hidden: secret === true }))?.trim()
    if (!answer) continue
    if (secret && store) secrets.set(name, await store.store(name, answer))
    else values.set(name, answer)
  }
  return { values, secrets }
}
