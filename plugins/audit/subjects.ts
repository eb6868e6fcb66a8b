import { userInfo } from 'node:os'
import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { ClientInfo } from '../../src/net/client-info.ts'

/** Most characters of a text of strangers in an event. */
const MOST_CHARACTERS = 256

/** The text, at most so many characters of it. */
export const short = (text: string, most = MOST_CHARACTERS): string =>
  text.length > most ? `${text.slice(0, most)}…` : text

/** Who calls: what the token says, else the user of this machine, else nobody that is known. */
export function toSubjects(caller: Caller | 'local' | undefined, client: ClientInfo | undefined): object {
  return {
    ...toUser(caller),
    ...(client?.name === undefined ? {} : { client_name: short(client.name) }),
    ...(client?.version === undefined ? {} : { client_version: short(client.version) }),
  }
}

function toUser(caller: Caller | 'local' | undefined): object {
  if (caller === undefined) return { user: 'anonymous' }
  if (caller === 'local') return { user: `Local User: ${localUser()}`, user_id: localUser() }
  const { subject, issuer, claims } = caller
  const named = ['name', 'preferred_username', 'email'].map(claim => textOf(claims[claim])).find(Boolean)
  const client = textOf(claims.client_id) ?? textOf(claims.azp)
  return {
    user: short(named ?? subject),
    user_id: short(subject),
    ...(issuer === undefined ? {} : { issuer: short(issuer) }),
    ...(client === undefined ? {} : { client_id: short(client) }),
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value ? value : undefined

let known: string | undefined
function localUser(): string {
  known ??= nameOfUser()
  return known
}

function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return 'local' // a number without an entry in the list of users
  }
}

/** Who acts for the subject (RFC 8693, section 4.1), nearest first; undefined when nobody does. */
export function toDelegation(caller: Caller | undefined, most: number): object | undefined {
  if (!caller || (caller.actors === undefined && caller.claims.act === undefined)) return undefined
  if (!caller.actors) return { malformed: true, malformedReason: 'the claim act cannot be read' }
  const chain = caller.actors
    .slice(0, most)
    .map(({ issuer, subject }) => ({ ...(issuer ? { iss: short(issuer) } : {}), sub: short(subject) }))
  const omitted = caller.actors.length - chain.length
  return { chain, ...(omitted ? { truncated: true, omitted } : {}) }
}
