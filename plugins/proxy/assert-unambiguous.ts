import { repeatedMember } from '../../src/lib/raw-json.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import { otherSpelling } from '../../src/net/rpc-message.ts'
import { rpcRefusal } from './request-refusal.ts'

/**
 * Refuses a JSON text (raw, see raw-json.ts) that two readers could take for different messages: a name stands twice
 * in one object, at any depth, or a member that decides what is called is written in another case.
 */
export function assertUnambiguous(text: string): void {
  const repeated = repeatedMember(text)
  if (repeated !== undefined) throw refusal(`The member ${quoted(repeated)} stands twice in one object`)
  const other = otherSpelling(text)
  if (other !== undefined) throw refusal(`The member ${quoted(other)} is written in another case`)
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 100))

const refusal = (problem: string) => rpcRefusal(400, INVALID_REQUEST, problem)
