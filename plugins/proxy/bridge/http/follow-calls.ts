import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import type { Call } from '../calls/call.ts'
import type { Calls } from '../calls/pending-calls.ts'

/** Tells the stages of the exchange when the last of its calls has ended, and ends the calls at their deadline. */
export function followCalls(calls: Calls, started: readonly Call[], exchange: Exchange): void {
  const onEnd = exchange.followCall?.()
  const { deadline } = exchange
  if (!onEnd && !deadline) return
  const inFlight = new Set(started.filter(call => calls.find(call.id) === call))
  const onLate = () => {
    for (const call of inFlight) calls.abandon(call, 'timeout', 'the call took too long')
  }
  deadline?.addEventListener('abort', onLate, { once: true })
  const end = () => {
    deadline?.removeEventListener('abort', onLate)
    onEnd?.()
  }
  for (const call of inFlight) {
    call.onEnd = () => {
      if (inFlight.delete(call) && inFlight.size === 0) end()
    }
  }
  if (inFlight.size === 0) end()
  else if (deadline?.aborted) onLate()
}
