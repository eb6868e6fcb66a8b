import { userInfo } from 'node:os'
import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { isLoopback } from '../../src/net/loopback.ts'

const ISSUER = 'keelson-local'

const toCaller = (subject: string, name: string): Caller => ({
  subject,
  issuer: ISSUER,
  claims: { sub: subject, iss: ISSUER, name, email: `${subject}@localhost` },
})

/**
 * Who calls where nobody has to log in: the user of this machine, or `anonymous` for who comes from elsewhere, as
 * containers do.
 */
export function createLocalCallers(): (exchange: Exchange) => Caller {
  const local = localCaller()
  const anonymous = toCaller('anonymous', 'Anonymous User')
  return ({ request }) => (isLoopback(request.socket.remoteAddress ?? '') ? local : anonymous)
}

/** The user of this machine. */
export function localCaller(): Caller {
  const user = nameOfUser()
  return toCaller(user, `Local User: ${user}`)
}

function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return 'local' // a number without an entry in the list of users
  }
}
