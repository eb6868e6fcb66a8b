import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { Call } from './call.ts'
import type { Calls } from './pending-calls.ts'

/** Tells the stages of the exchange when its call has ended, and ends the call at their deadline. */
export function followCall(calls: Calls, call: Call, exchange: Exchange): void {
  const onEnd = exchange.followCall?.()
  const { deadline } = exchange
  if (!onEnd && !deadline) return
  const onLate = () => calls.abandon(call, 'timeout', 'the call took too long')
  deadline?.addEventListener('abort', onLate, { once: true })
  const end = () => {
    deadline?.removeEventListener('abort', onLate)
    onEnd?.()
  }
  call.onEnd = end
  if (calls.find(call.id) !== call) end()
  else if (deadline?.aborted) onLate()
}
