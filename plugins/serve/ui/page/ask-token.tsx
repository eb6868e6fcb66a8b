import { useState } from 'preact/hooks'
import type { TokenKind } from './api.ts'
import { openDialog } from './dialog.tsx'
import { useFocus } from './use-focus.ts'

/** What is asked for, and where it is found. */
const TOKENS = {
  login: {
    label: 'Access token',
    note: 'This server requires a login. Paste an access token of its identity provider; it stays in this page and is gone when you close it.',
  },
  caller: {
    label: 'Caller token',
    note: 'This server requires its caller token. “keelson config get-caller-token” names the file that holds it. The token stays in this tab and is gone when you close it.',
  },
}

/** Asks for a token. It is handed on and kept nowhere here. */
export function askToken(kind: TokenKind): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  openDialog({
    title: 'Who are you?',
    content: ({ close }) => (
      <TokenForm
        {...TOKENS[kind]}
        give={token => {
          resolve(token)
          close()
        }}
      />
    ),
    onClose: () => resolve(undefined),
  })
  return promise
}

function TokenForm({
  label,
  note,
  give,
}: {
  label: string
  note: string
  give: (token: string | undefined) => void
}) {
  const [token, setToken] = useState('')
  const field = useFocus<HTMLInputElement>()
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        give(token.trim() || undefined)
      }}
    >
      <p id="token-note">{note}</p>
      <label for="token">{label}</label>
      <input
        ref={field}
        id="token"
        type="password"
        autocomplete="off"
        required
        aria-describedby="token-note"
        value={token}
        onInput={({ currentTarget }) => setToken(currentTarget.value)}
      />
      <div class="buttons">
        <button type="submit" class="primary">
          Go on
        </button>
      </div>
    </form>
  )
}
