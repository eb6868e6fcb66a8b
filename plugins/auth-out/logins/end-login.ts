import { messageOf } from '../../../src/errors.ts'
import type { Reach } from '../oauth/types.ts'
import type { LoginParts } from './login-parts.ts'

/** How a login ended at its provider. `problem`: why it was not taken back there. */
export interface Logout {
  readonly issuer: string
  readonly problem?: string | undefined
}

/**
 * Forgets a login, which stops its use in all processes, then takes it back at its provider (RFC 7009).
 * Undefined: there was none.
 */
export async function endLogin(
  { engine, store, held, locks }: LoginParts,
  key: string,
  reach: Partial<Reach>,
): Promise<Logout | undefined> {
  const known = held.get(key)?.accessToken
  const login = await locks.change(key, async () => {
    const found = await store.find(key)
    await store.remove(key)
    await held.drop(key)
    return found
  })
  if (!login) return undefined
  const { discovery, client, refreshToken, origin } = login.record
  const accessToken = login.tokens?.accessToken ?? known
  const { issuer } = discovery
  try {
    const isRevoked = await engine.revoke(
      {
        discovery,
        client,
        settings: {},
        tokens: { refreshToken, ...(accessToken === undefined ? {} : { accessToken }) },
      },
      { target: origin, ...reach },
    )
    return isRevoked ? { issuer } : { issuer, problem: 'it takes no logins back' }
  } catch (error) {
    return { issuer, problem: messageOf(error) }
  }
}
