import type { Authorization, AuthorizationValue } from '../credentials/authorization.ts'
import type { AccessStatus } from './access-status.ts'
import type { TokenRenewal } from './token-renewal.ts'

/** How often a request may make us look whether somebody has logged in, in milliseconds. */
const LOOK_MS = 2000

/** Chooses the header of a request; a token that has nearly ended is used while another one is got. */
export function createLoginHeader(renewal: TokenRenewal, access: AccessStatus): Authorization['value'] {
  const without = (hasOwn: boolean): AuthorizationValue =>
    access.problem && !hasOwn ? { problem: access.problem } : { header: undefined }

  const current = (hasOwn: boolean): AuthorizationValue =>
    renewal.token
      ? { header: `Bearer ${renewal.token.accessToken}`, idToken: renewal.token.idToken }
      : without(hasOwn)

  function valueNow(hasOwn: boolean): AuthorizationValue | Promise<AuthorizationValue> {
    if (renewal.token) {
      const { renewAt = Number.POSITIVE_INFINITY, expiresAt = Number.POSITIVE_INFINITY } = renewal.token
      if (Date.now() < renewAt) return current(hasOwn)
      const isOver = Date.now() >= expiresAt
      if (access.problem?.status === 'auth_retrying') return isOver ? without(hasOwn) : current(hasOwn)
      const pending = renewal.renew()
      return isOver ? pending.then(() => current(hasOwn)) : current(hasOwn)
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
