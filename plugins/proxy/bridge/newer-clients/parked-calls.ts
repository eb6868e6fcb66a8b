import { createRequestStates } from '../../eras/request-state.ts'
import type { SessionOwner } from '../../session-owner.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { ModernCall } from './modern-call.ts'

/** The calls that wait for the input of their clients (MCP 2026-07-28, multi round-trip requests). */
export interface ParkedCalls {
  /** Undefined when too many calls are parked. */
  park(call: ModernCall, owner: SessionOwner): Parking | undefined
  /** The call that a state of this caller names; else why there is none, for the client. */
  find(state: string, owner: SessionOwner): ModernCall | string
  /**
   * Accounts for a response that arrived while no client waited for it. Returns the function that ends that;
   * undefined when too much is kept already.
   */
  keep(response: string): (() => void) | undefined
}

export interface Parking {
  /** The `requestState` that names the call. */
  readonly state: string
  /** Ends it: the state is not accepted again. */
  end(): void
}

const UNKNOWN =
  'requestState is not of this server and caller, or the proxy was restarted since; make the call again'
const OVER = 'requestState was used already, or its call has ended; make the call again'

export function createParkedCalls({ limits, now }: { limits: BridgeLimits; now: () => number }): ParkedCalls {
  const { maxParked, parkedMs, maxTotalEventBytes } = limits
  const states = createRequestStates()
  const parked = new Map<number, ModernCall>()
  let lastNumber = 0
  let keptBytes = 0

  return {
    park(call, owner) {
      if (parked.size >= maxParked) return undefined
      lastNumber += 1
      const number = lastNumber
      parked.set(number, call)
      const timer = setTimeout(() => {
        parked.delete(number)
        call.expire()
      }, parkedMs).unref()
      return {
        state: states.seal({ number, expires: now() + parkedMs }, owner),
        end() {
          clearTimeout(timer)
          parked.delete(number)
        },
      }
    },
    find(state, owner) {
      const round = states.open(state, owner)
      if (!round) return UNKNOWN
      if (round.expires <= now())
        return `The call was not continued within ${parkedMs / 1000} seconds, and was cancelled`
      return parked.get(round.number) ?? OVER
    },
    keep({ length }) {
      if (keptBytes + length > maxTotalEventBytes) return undefined
      keptBytes += length
      return () => {
        keptBytes -= length
      }
    },
  }
}
