import { readCutJson } from '../lib/read-cut-json.ts'

/** What a response says of its call. */
export interface RpcOutcome {
  /** Whether the JSON-RPC response was seen. */
  readonly isAnswered: boolean
  readonly error?: { readonly code?: number; readonly message: string }
  /** A tool says that it failed (`isError` of its result). */
  readonly isToolError?: boolean
}

/** Reads the beginning of a JSON body, or of each event of a stream, and finds the JSON-RPC response. */
export interface ResponseReader {
  /** Returns whether the response to the call is complete with these bytes; of JSON only `outcome` knows. */
  read(bytes: Buffer): boolean
  outcome(): RpcOutcome
}

/** How many bytes of a body or of an event are looked at. */
const MOST_BYTES = 4096
const NOTHING: RpcOutcome = { isAnswered: false }
const [LF, CR] = [0x0a, 0x0d]
const DATA = 'data:'

export function createJsonReader(): ResponseReader {
  const prefix = createPrefix(MOST_BYTES)
  let known: RpcOutcome | undefined
  return {
    read(bytes) {
      prefix.add(bytes)
      known = undefined
      return false
    },
    outcome() {
      known ??= outcomeOf(prefix.text(), prefix.length() > MOST_BYTES)
      return known
    },
  }
}

/** A text without these names tells of no failure: `error` and `isError`, which can be written with escapes. */
const MAY_FAIL = /rror"|\\u/

const outcomeOf = (text: string, isCut: boolean): RpcOutcome =>
  MAY_FAIL.test(text) ? (toOutcome(text, isCut) ?? NOTHING) : { isAnswered: text.includes('"result"') }

/** Events end at an empty line; lines end with LF or CRLF, as servers write them. */
export function createEventReader(): ResponseReader {
  let line = createPrefix(MOST_BYTES)
  let data = ''
  let isCut = false
  let outcome = NOTHING

  function endLine(): void {
    const text = line.text()
    const isEmpty = line.length() === 0 || text === '\r'
    const isLong = line.length() > MOST_BYTES
    line = createPrefix(MOST_BYTES)
    if (!isEmpty) {
      if (!text.startsWith(DATA)) return
      const value = text.slice(text[DATA.length] === ' ' ? 6 : 5)
      isCut ||= isLong || value.length > MOST_BYTES - data.length
      data += value.slice(0, MOST_BYTES - data.length)
      return
    }
    const found = data ? toOutcome(data, isCut) : undefined
    data = ''
    isCut = false
    if (found) outcome = found
  }

  return {
    read(bytes) {
      const wasAnswered = outcome.isAnswered
      let from = 0
      for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, from)) {
        const end = at > from && bytes[at - 1] === CR ? at - 1 : at
        line.add(bytes.subarray(from, end))
        endLine()
        from = at + 1
      }
      line.add(bytes.subarray(from))
      return !wasAnswered && outcome.isAnswered
    },
    outcome() {
      return outcome
    },
  }
}

/** The first bytes of what is added. */
export function createPrefix(most: number) {
  const parts: Buffer[] = []
  let kept = 0
  let length = 0
  return {
    add(bytes: Buffer): void {
      length += bytes.length
      if (kept >= most || bytes.length === 0) return
      const part = Buffer.from(bytes.subarray(0, most - kept)) // the caller may use its buffer again
      parts.push(part)
      kept += part.length
    },
    /** How many bytes were added. */
    length() {
      return length
    },
    text: (): string => (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString('utf8'),
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** What a message says; undefined when it is not a response. */
function toOutcome(text: string, isCut: boolean): RpcOutcome | undefined {
  const value = readCutJson(text, { isCut })
  if (Array.isArray(value)) {
    const found = value.map(ofMessage).filter(one => one !== undefined)
    return found.find(one => one.error) ?? found[0]
  }
  return ofMessage(value)
}

function ofMessage(value: unknown): RpcOutcome | undefined {
  if (!isObject(value) || 'method' in value) return undefined
  const { error, result } = value
  if (isObject(error)) {
    const { code, message } = error
    return {
      isAnswered: true,
      error: {
        ...(typeof code === 'number' ? { code } : {}),
        message: typeof message === 'string' ? message : '',
      },
    }
  }
  if (result === undefined) return undefined
  return { isAnswered: true, ...(isObject(result) && result.isError === true ? { isToolError: true } : {}) }
}
