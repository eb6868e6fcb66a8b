import type { IncomingMessage } from 'node:http'
import { CompactEncrypt, compactDecrypt } from 'jose'
import type { HmacSecrets } from '../keys/hmac-secrets.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { type BrowserBinding, bindingOf, cookieOf, cookieValueOf, setCookie } from './browser-binding.ts'
import type { PendingLogin } from './pending-logins.ts'
import { PENDING_SECONDS } from './pending-seconds.ts'

/** What browsers keep of a cookie, with its name and attributes, is 4096 bytes (RFC 6265, section 6.1). */
const LONGEST_COOKIE = 3900
const HEADER = { alg: 'dir', enc: 'A256GCM' } as const

/**
 * Keeps logins that nobody has finished in the browsers that began them, sealed, so that authorization requests of
 * strangers fill no storage.
 */
export interface LoginCookies {
  /** Returns the binding of a login with this identifier, and what makes the `Set-Cookie` header that keeps it. */
  begin(id: string): { binding: BrowserBinding; keep(login: PendingLogin): Promise<string> }
  /** Returns the login with this identifier if this browser has begun it, and not too long ago. */
  find(request: IncomingMessage, id: string): Promise<PendingLogin | undefined>
}

interface Sealed {
  readonly id: string
  /** In milliseconds since 1970. */
  readonly until: number
  readonly login: PendingLogin
}

export function createLoginCookies({
  pageBase,
  secrets,
  now,
}: {
  pageBase: string
  secrets: HmacSecrets
  now: () => number
}): LoginCookies {
  const [key = Buffer.alloc(0), ...older] = secrets.cookieKeys

  async function open(sealed: string): Promise<Sealed | undefined> {
    for (const one of [key, ...older]) {
      const opened = await compactDecrypt(sealed, one, {
        keyManagementAlgorithms: [HEADER.alg],
        contentEncryptionAlgorithms: [HEADER.enc],
      }).catch(() => undefined)
      if (opened) return JSON.parse(Buffer.from(opened.plaintext).toString('utf8')) as Sealed
    }
    return undefined
  }

  return {
    begin(id) {
      const { binding, token } = bindingOf(pageBase, id)
      return {
        binding,
        async keep(login) {
          const content: Sealed = { id, until: now() + PENDING_SECONDS * 1000, login }
          const sealed = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
            .setProtectedHeader(HEADER)
            .encrypt(key)
          if (sealed.length > LONGEST_COOKIE)
            throw new OAuthError('invalid_request', 'The authorization request is too long.')
          return setCookie(binding, `${token}.${sealed}`)
        },
      }
    },
    async find(request, id) {
      const value = cookieValueOf(request, pageBase, id)
      const found = value && (await open(value.slice(value.indexOf('.') + 1)))
      if (!found || found.id !== id || found.until <= now()) return undefined
      return cookieOf(request, found.login.browser) === undefined ? undefined : found.login
    },
  }
}
