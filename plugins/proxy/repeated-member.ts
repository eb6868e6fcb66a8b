import { repeatedMember } from '../../src/lib/raw-json.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import { rpcRefusal } from './request-refusal.ts'

/** Refuses a JSON text (raw, see raw-json.ts) in which a name stands twice in one object, at any depth. */
export function assertNoRepeatedMember(text: string): void {
  const name = repeatedMember(text)
  if (name === undefined) return
  throw rpcRefusal(
    400,
    INVALID_REQUEST,
    `The member ${JSON.stringify(name.slice(0, 100))} stands twice in one object`,
  )
}
