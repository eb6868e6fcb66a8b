import { useState } from 'preact/hooks'
import type { Api } from './api.ts'
import { messageOf } from './message-of.ts'
import { SECRETS } from './secret-keys.ts'

const PROVIDERS = [
  [
    'encrypted',
    'An encrypted file',
    'In your home folder. Its key is made at random, and kept in the keyring of this system.',
  ],
  [
    '1password',
    '1Password',
    'Read from your vaults by a service account (OP_SERVICE_ACCOUNT_TOKEN). Nothing can be stored from here.',
  ],
  [
    'environment',
    'Environment variables',
    'Read from variables of keelson that begin with KEELSON_SECRET. Nothing can be stored from here.',
  ],
] as const

/** Chooses where secrets are kept. */
export function SecretsSetup({ api, onDone }: { api: Api; onDone: () => Promise<void> }) {
  const [chosen, setChosen] = useState<string>('encrypted')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)

  async function submit(event: Event) {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setProblem('')
    try {
      await api.send('POST', SECRETS, { provider_type: chosen })
      await onDone()
    } catch (error) {
      setProblem(messageOf(error))
    }
    setBusy(false)
  }
  return (
    <form onSubmit={submit} aria-busy={isBusy}>
      <fieldset class="plain">
        <legend>Where shall secrets be kept?</legend>
        {PROVIDERS.map(([type, title, text]) => (
          <label key={type} class="option">
            <input
              type="radio"
              name="provider"
              value={type}
              checked={chosen === type}
              onChange={() => setChosen(type)}
            />
            <span>
              {title}
              <span class="soft">{text}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {problem && (
        <p class="problem refusal" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Set up
        </button>
      </div>
    </form>
  )
}
