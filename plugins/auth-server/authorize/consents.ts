import { isUrl } from '../clients/document-url.ts'
import { isPrivateUse } from '../clients/redirect-uri.ts'
import { hashOf } from '../protocol/secrets.ts'
import type { Store } from '../storage/store.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { Person } from './pending-logins.ts'

const REMEMBERED_MS = 30 * 86_400_000

type Asked = Pick<AuthorizationRequest, 'clientId' | 'redirectUri' | 'audience' | 'scopes'>
/** Of two providers, each has subjects of its own. */
type Subject = Pick<Person, 'issuer' | 'subject'>

/** What people have agreed to before. */
export interface Consents {
  /** Whether the person has agreed to all that is asked, for the same client and the same way back. */
  covers(person: Subject, asked: Asked): Promise<boolean>
  remember(person: Subject, asked: Asked): Promise<void>
}

export function createConsents(store: Store): Consents {
  // The port of a program on this computer is another one each time (RFC 8252, section 7.3).
  const keyOf = ({ issuer, subject }: Subject, { clientId, redirectUri, audience }: Asked) => {
    const { protocol, hostname, host, pathname } = new URL(redirectUri)
    const place = protocol === 'http:' ? hostname : host
    return hashOf('consent', issuer, subject, clientId, `${protocol}//${place}${pathname}`, audience)
  }
  return {
    async covers(person, asked) {
      if (anyProgramCanAsk(asked)) return false
      const value = await store.get('consent', keyOf(person, asked))
      const agreed = value === undefined ? undefined : (JSON.parse(value) as string[])
      return agreed !== undefined && asked.scopes.every(scope => agreed.includes(scope))
    },
    async remember(person, asked) {
      if (anyProgramCanAsk(asked)) return
      const key = keyOf(person, asked)
      const value = JSON.stringify(asked.scopes)
      if (await store.add('consent', key, value, REMEMBERED_MS)) return
      // Without room, or when somebody else was faster, the person is asked again next time.
      const before = await store.get('consent', key)
      if (before === undefined) return
      const all = [...new Set([...(JSON.parse(before) as string[]), ...asked.scopes])]
      await store.replace('consent', key, before, JSON.stringify(all), REMEMBERED_MS)
    },
  }
}

/**
 * Any program on the person's computer can claim a scheme. The identifier of a client that a document describes is
 * known to everybody, and its port on this computer belongs to whichever program listens there. Without the person, any
 * of them would get a code (RFC 8252, sections 8.1 and 8.6).
 */
const anyProgramCanAsk = ({ clientId, redirectUri }: Asked): boolean =>
  isPrivateUse(redirectUri) || (isUrl(clientId) && redirectUri.startsWith('http:'))
