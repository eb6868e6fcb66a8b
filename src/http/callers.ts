import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { PeerOwners } from '../lib/peer-owner.ts'

/** Brings the caller token. A page of another site cannot send it without asking first (a CORS preflight). */
export const CALLER_TOKEN_HEADER = 'keelson-caller-token'

/** Why a request may not come in: somebody else sent it, or it lacks the token. */
export type CallerProblem = 'stranger' | 'token'

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
  /** The token that is required now, if one is. Asked for every new connection. */
  token: () => Promise<string | undefined>
}): Callers {
  const { owners, token } = options
  const known = new WeakMap<Socket, boolean | Promise<boolean>>()
  let required: Buffer | undefined

  async function meet(socket: Socket, local: boolean): Promise<boolean> {
    const [ours, now] = await Promise.all([!local || !owners || owners.isOurs(socket), token()])
    required = now === undefined ? undefined : Buffer.from(now)
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
