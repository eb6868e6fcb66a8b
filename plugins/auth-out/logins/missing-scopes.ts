import type { LoginParts } from './login-parts.ts'

/** The most scopes that a server can add to the next login. */
const MOST = 50

/** Keeps which scopes the server wants besides the granted ones, so that the next login asks for them, too. */
export const noteMissingScopes = (
  { notes, locks }: Pick<LoginParts, 'notes' | 'locks'>,
  key: string,
  scopes: readonly string[],
): Promise<void> =>
  locks.change(key, async () => {
    const found = await notes.read(key)
    const missing = [...new Set([...(found?.missingScopes ?? []), ...scopes])]
    if (!found || missing.length === found.missingScopes?.length || missing.length > MOST) return
    await notes.write(key, { ...found, missingScopes: missing })
  })
