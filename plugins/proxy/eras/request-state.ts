import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SessionOwner } from '../session-owner.ts'

/** What a `requestState` names: one round of one parked call. */
export interface RoundName {
  /** Counts the rounds of all calls of a workload. */
  readonly number: number
  /** When the round ends, in milliseconds since the epoch. */
  readonly expires: number
}

/** Makes and reads the `requestState` of the rounds of one workload (MCP 2026-07-28, multi round-trip requests). */
export interface RequestStates {
  seal(round: RoundName, owner: SessionOwner): string
  /** Undefined when it was not made here, or for another caller. It may be of a round that is over. */
  open(state: string, owner: SessionOwner): RoundName | undefined
}

const STATE = /^(\d{1,15})\.(\d{1,15})\.([\w-]{43})$/

/**
 * A state is an HMAC over round, end and caller. The key lives as long as the parked calls, which end with the
 * server process: nothing of it is on disk.
 */
export function createRequestStates(): RequestStates {
  const key = randomBytes(32)
  const mac = ({ number, expires }: RoundName, owner: SessionOwner): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([number, expires, owner ?? null]))
      .digest()
  return {
    seal: (round, owner) => `${round.number}.${round.expires}.${mac(round, owner).toString('base64url')}`,
    open(state, owner) {
      const [, number, expires, sealed] = STATE.exec(state) ?? []
      if (sealed === undefined) return undefined
      const round = { number: Number(number), expires: Number(expires) }
      return timingSafeEqual(Buffer.from(sealed, 'base64url'), mac(round, owner)) ? round : undefined
    },
  }
}
