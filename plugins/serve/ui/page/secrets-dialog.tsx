import { useEffect, useState } from 'preact/hooks'
import type { Api } from './api.ts'
import { openDialog } from './dialog.tsx'
import { messageOf } from './message-of.ts'
import { listSecrets, SECRETS } from './secret-keys.ts'
import { SecretKeysPanel } from './secret-keys-panel.tsx'
import { SecretsSetup } from './secrets-setup.tsx'

/** Lists, stores and deletes secrets, or sets up a place for them. No value is ever shown. */
export function openSecretsDialog(api: Api, onClose?: () => void): void {
  openDialog({
    title: 'Secrets',
    kind: 'wide',
    content: () => <Secrets api={api} />,
    ...(onClose ? { onClose } : {}),
  })
}

/** Where secrets are kept, and whether they can be changed there. */
export interface Place {
  readonly type: string
  readonly names: readonly string[]
  readonly isWritable: boolean
}

async function findPlace(api: Api): Promise<Place | undefined> {
  const names = await listSecrets(api)
  const provider = await api.get(`${SECRETS}/default`).catch(() => undefined)
  if (!provider) return undefined
  return { type: provider.provider_type, names: names ?? [], isWritable: provider.capabilities.can_write }
}

function Secrets({ api }: { api: Api }) {
  /** `null`: there is none. */
  const [place, setPlace] = useState<Place | null | undefined>()
  const [problem, setProblem] = useState('')
  const load = () =>
    findPlace(api).then(
      found => setPlace(found ?? null),
      error => setProblem(messageOf(error)),
    )
  useEffect(() => void load(), [])

  if (problem)
    return (
      <p class="problem refusal" role="alert">
        {problem}
      </p>
    )
  if (place === undefined) return <p role="status">Loading…</p>
  if (place === null) return <SecretsSetup api={api} onDone={load} />
  return <SecretKeysPanel {...{ api, place, onChange: load }} />
}
