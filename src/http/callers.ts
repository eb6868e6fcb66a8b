import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { PeerOwners } from '../net/peer-owner.ts'
import { CALLER_TOKEN_HEADER } from './caller-token-header.ts'

/** Why a request may not come in: somebody else sent it, or it lacks the token. */
export type CallerProblem = 'stranger' | 'token'

const FRESH_MS = 1000
/** Of one that nobody knows. */
const TOKEN_BYTES = 32

/** Tells requests of the user from those of others who can connect. */
export interface Callers {
  /** Finds out whose each new connection is; `local`: only this machine can connect, so that can be told. */
  watch(server: Server, options: { local: boolean }): void
  /** Goes on when it is known whose the request's connection is; never when that is closed by then. */
  whenKnown(request: IncomingMessage, go: () => void): void
  /** Undefined: it may come in. Where a token is required it decides, else the owner of the connection. */
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
        log.error('whether callers need a token cannot be read; nobody is let in', {
          error: messageOf(error),
        })
        required = randomBytes(TOKEN_BYTES)
      },
    )
    return asking
  }

  async function meet(socket: Socket, local: boolean): Promise<boolean> {
    const [ours] = await Promise.all([!local || !owners || owners.isOurs(socket), askForToken()])
    known.set(socket, ours)
    return ours
  }

  return {
    watch(server, { local }) {
      server.on('connection', (socket: Socket) => {
        const meeting = meet(socket, local)
        meeting.catch(() => known.set(socket, false))
        known.set(socket, meeting)
      })
    },
    whenKnown(request, go) {
      const { socket } = request
      void askForToken() // for the next request: who stays connected hears of changes, too
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
