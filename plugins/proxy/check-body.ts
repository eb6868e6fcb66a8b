import { isAscii } from 'node:buffer'
import { MOST_NAMES, parseJson } from '../../src/lib/parse-json.ts'
import { checkJson } from '../../src/lib/raw-json.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import { otherSpelling } from '../../src/net/rpc-message.ts'
import { rpcRefusal } from './request-refusal.ts'

/** A body that is text in UTF-8. */
export interface CheckedBody {
  /** Raw (see raw-json.ts). */
  readonly text: string
  /** What the text stands for; undefined where it is not JSON. Absent where nobody keeps it. */
  readonly value?: unknown
}

/**
 * The most distinct names of members. `JSON.parse` makes a hidden class for nearly every one: 800,000 names, which fit into
 * 8 MiB, would block all workloads for seconds.
 */
const MOST_DISTINCT = 50_000

/**
 * Reads a body. Refuses (400) JSON that two readers could take for different messages: a name stands twice in one
 * object, at any depth, or a member that decides what is called is written in another case.
 */
export function checkBody(body: Buffer): CheckedBody {
  const text = body.toString('latin1')
  const { isJson, repeated, hasTooManyNames } = checkJson(text, MOST_DISTINCT)
  if (repeated !== undefined) throw refusal(`The member ${quoted(repeated)} stands twice in one object`)
  if (hasTooManyNames) {
    const most = `more than ${MOST_NAMES} are written with escapes, or more than ${MOST_DISTINCT} differ`
    throw refusal(`The body has too many member names: ${most}`)
  }
  const value = isJson ? parseJson(isAscii(body) ? text : body.toString('utf8')) : undefined
  const other = otherSpelling(value)
  if (other !== undefined) throw refusal(`The member ${quoted(other)} is written in another case`)
  return { text, value }
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 100))

const refusal = (problem: string) => rpcRefusal(400, INVALID_REQUEST, problem)
