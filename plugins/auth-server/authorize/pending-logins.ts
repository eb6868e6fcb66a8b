import type { Admission } from '../grants/admission.ts'
import { noRoom } from '../protocol/oauth-error.ts'
import { hashOf, randomToken } from '../protocol/secrets.ts'
import type { Store } from '../storage/store.ts'
import type { UpstreamChecks, UpstreamTokens } from '../upstream/upstream.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { BrowserBinding } from './browser-binding.ts'
import { PENDING_SECONDS } from './pending-seconds.ts'

/** Who has logged in so far, as the first upstream provider says. */
export interface Person {
  readonly subject: string
  /** `Upstream.id` of that provider. */
  readonly issuer: string
  readonly admission: Admission
  readonly name?: string | undefined
  readonly email?: string | undefined
}

/** An authorization request that a person is busy with. It can be written as JSON. */
interface PendingBase {
  readonly request: AuthorizationRequest
  /** The one browser that may go on. */
  readonly browser: BrowserBinding
  /** Tokens of the upstream providers that the person has logged in at, by `Upstream.id`. */
  readonly upstreamTokens: Readonly<Record<string, UpstreamTokens>>
}

/** The person logs in at an upstream provider: the one with this index. */
export interface PendingLogin extends PendingBase {
  readonly step: 'login'
  readonly upstream: number
  readonly checks: UpstreamChecks
  readonly person?: Person | undefined
}

/** The person is asked whether the client may act for them. */
export interface PendingConsent extends PendingBase {
  readonly step: 'consent'
  readonly person: Person
}

export type Pending = PendingLogin | PendingConsent

/** Logins of people whom a provider has named, between two visits of their browser. Each is used once. */
export interface PendingLogins {
  /** Keeps one under an identifier that nobody can guess. */
  add(pending: Pending, id?: string): Promise<string>
  find(id: string): Promise<Pending | undefined>
  /** Of two callers, one gets it. */
  take(id: string): Promise<Pending | undefined>
  /** Notes that the person has come back from the provider. Of two callers, one gets true. */
  finish(id: string): Promise<boolean>
}

export function createPendingLogins(store: Store): PendingLogins {
  const keyOf = (id: string) => hashOf('pending', id)
  const parse = (value: string | undefined) =>
    value === undefined ? undefined : (JSON.parse(value) as Pending)
  return {
    async add(pending, id = randomToken()) {
      if (await store.add('pending', keyOf(id), JSON.stringify(pending), PENDING_SECONDS * 1000)) return id
      throw noRoom('logins')
    },
    find: async id => parse(await store.get('pending', keyOf(id))),
    take: async id => parse(await store.take('pending', keyOf(id))),
    finish: id => store.add('used', hashOf('login', id), '', PENDING_SECONDS * 1000),
  }
}
