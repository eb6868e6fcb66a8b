import type { Authorization, AuthorizationValue } from '../credentials/authorization.ts'
import type { AccessStatus } from './access-status.ts'
import { EARLY_MS } from './login-tokens.ts'
import type { TokenRenewal } from './token-renewal.ts'

/** How often a request may make us look whether somebody has logged in, in milliseconds. */
const LOOK_MS = 2000

/** Chooses the header of a request; a token that has nearly ended is used while another one is got. */
export function createLoginHeader(renewal: TokenRenewal, access: AccessStatus): Authorization['value'] {
  function current(hasOwn: boolean): AuthorizationValue {
    if (renewal.token) return { header: `Bearer ${renewal.token.accessToken}` }
    return access.problem && !hasOwn ? { problem: access.problem } : { header: undefined }
  }

  function leftMs(): number {
    const end = renewal.token?.expiresAt
    return end === undefined ? Number.POSITIVE_INFINITY : end - Date.now()
  }

  function valueNow(hasOwn: boolean): AuthorizationValue | Promise<AuthorizationValue> {
    if (renewal.token) {
      const left = leftMs()
      if (left > EARLY_MS) return current(hasOwn)
      const pending = renewal.renew()
      return left > 0 ? current(hasOwn) : pending.then(() => current(hasOwn))
    }
    if (renewal.running) return renewal.running.then(() => current(hasOwn))
    const mayLook = access.problem?.status === 'unauthenticated' && Date.now() - renewal.askedAt > LOOK_MS
    return mayLook && !hasOwn ? renewal.renew().then(() => current(hasOwn)) : current(hasOwn)
  }

  return hasOwn => {
    const found = renewal.isCurrent()
    if (found === true) return valueNow(hasOwn)
    return Promise.resolve(found).then(async isCurrent => {
      if (!isCurrent) await renewal.renew()
      return valueNow(hasOwn)
    })
  }
}
