import { useEffect, useState } from 'preact/hooks'
import type { Api } from './api.ts'
import { showProblem } from './notices.tsx'
import { listSecrets } from './secret-keys.ts'
import { openSecretsDialog } from './secrets-dialog.tsx'

/** The names of the stored secrets, for the fields that choose among them. */
export interface SecretKeys {
  /** Undefined: there is no place for secrets. */
  readonly names: readonly string[] | undefined
  /** Whether that has been asked. */
  readonly isLoaded: boolean
  /** The secret that the server was given before, by variable. */
  readonly agreed?: ReadonlyMap<string, string> | undefined
  readonly load: () => void
  /** Opens what sets up the place. */
  readonly setUp: () => void
}

/** The names as far as they are known, for a form that may need them only later. */
export interface KnownNames {
  readonly names: readonly string[] | undefined
}

/** What is known when a form opens: it asks for the names only if it has a field for a secret. */
export const findNames = async (api: Api, isNeeded: boolean): Promise<KnownNames | undefined> =>
  isNeeded ? { names: await listSecrets(api) } : undefined

export function useSecretKeys(api: Api, first: KnownNames | undefined): SecretKeys {
  const [known, setKnown] = useState(first)
  const load = () => void listSecrets(api).then(names => setKnown({ names }), showProblem)
  return {
    names: known?.names,
    isLoaded: known !== undefined,
    load,
    setUp: () => openSecretsDialog(api, load),
  }
}

/** Stands in the place of a field for a secret. */
export function SecretsMissing({ keys }: { keys: SecretKeys }) {
  useEffect(() => {
    if (!keys.isLoaded) keys.load()
  }, [])
  if (!keys.isLoaded) return <p class="soft">Loading…</p>
  return (
    <div class="missing">
      <p>This is a secret, and there is no place for secrets yet.</p>
      <button type="button" class="small" onClick={keys.setUp}>
        Set up secrets
      </button>
    </div>
  )
}
