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
    client_name: client?.name === undefined ? undefined : short(client.name),
    client_version: client?.version === undefined ? undefined : short(client.version),
  }
}

function toUser(caller: Caller | 'local' | undefined): object {
  if (caller === undefined) return { user: 'anonymous' }
  if (caller === 'local') return { user: `Local User: ${localUser()}`, user_id: localUser() }
  const { subject, issuer, claims } = caller
  const { name, preferred_username, email, client_id, azp } = claims
  const client = textOf(client_id) ?? textOf(azp)
  return {
    user: short(textOf(name) ?? textOf(preferred_username) ?? textOf(email) ?? subject),
    user_id: short(subject),
    issuer: issuer === undefined ? undefined : short(issuer),
    client_id: client === undefined ? undefined : short(client),
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
