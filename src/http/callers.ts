import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { PeerOwners } from '../net/peer-owner.ts'
import { CALLER_TOKEN_HEADER } from './caller-token-header.ts'

/** Why a request is refused: another user sent it, or it lacks the token. */
export type CallerProblem = 'stranger' | 'token'

const FRESH_MS = 1000
/** Length in bytes of the random token that is required when the caller token cannot be read. No caller has it. */
const TOKEN_BYTES = 32

/** Tells requests of the user from those of others who can connect. */
export interface Callers {
  /** Finds the user of each new connection. `local`: only this machine can connect, so the user can be known. */
  watch(server: Server, options: { local: boolean }): void
  /** Continues once the connection's user is known; never if the connection has closed by then. */
  whenKnown(request: IncomingMessage, go: () => void): void
  /** Undefined: the request is allowed. A required token decides, else the user of the connection. */
  problemOf(request: IncomingMessage): CallerProblem | undefined
}

export function createCallers(options: {
  /** Absent where owners of connections are not known. */
  owners: PeerOwners | undefined
  /** The token that is required now, if one is. Asked for again a second later at the earliest. */
  token: () => Promise<string | undefined>
  log: Log
}): Callers {
  const { owners, token, log } = options
  const known = new WeakMap<Socket, boolean | Promise<boolean>>()
  let required: Buffer | undefined
  let asked = Number.NEGATIVE_INFINITY
  let asking: Promise<void> = Promise.resolve()

  function askForToken(): Promise<void> {
    const now = performance.now()
    if (now - asked < FRESH_MS) return asking
    asked = now
    asking = token().then(
      text => {
        required = text === undefined ? undefined : Buffer.from(text)
      },
      error => {
        log.error('cannot read whether callers need a token; all requests are refused', {
          error: messageOf(error),
        })
        required = randomBytes(TOKEN_BYTES)
      },
    )
    return asking
  }

  async function identify(socket: Socket, { local }: { local: boolean }): Promise<boolean> {
    const [ours] = await Promise.all([!local || !owners || owners.isOurs(socket), askForToken()])
    known.set(socket, ours)
    return ours
  }

  return {
    watch(server, { local }) {
      server.on('connection', (socket: Socket) => {
        const identified = identify(socket, { local })
        identified.catch(() => known.set(socket, false))
        known.set(socket, identified)
      })
    },
    whenKnown(request, go) {
      const { socket } = request
      void askForToken() // for the next request, so that open connections notice changes too
      const ours = known.get(socket)
      if (typeof ours !== 'object') return go()
      const goOn = () => {
        if (!socket.destroyed) go()
      }
      ours.then(goOn, goOn)
    },
    problemOf({ socket, headers }) {
      if (required) return isSame(headers[CALLER_TOKEN_HEADER], required) ? undefined : 'token'
      return known.get(socket) === true ? undefined : 'stranger'
    },
  }
}

function isSame(given: string | string[] | undefined, required: Buffer): boolean {
  const bytes = Buffer.from(typeof given === 'string' ? given : '')
  return bytes.length === required.length && timingSafeEqual(bytes, required)
}
