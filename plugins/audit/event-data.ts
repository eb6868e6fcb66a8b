import { readCutJson } from '../../src/lib/read-cut-json.ts'
import { redact } from '../../src/lib/redact.ts'
import { isEventStream } from '../../src/net/sse.ts'
import { redactData } from './redact-data.ts'

/** A part of a message: its first bytes, and how many there were. */
export interface Part {
  readonly text: string
  readonly bytes: number
  readonly isCut: boolean
}

/** The content of a message for an event: without secrets, and marked where it is cut. */
export function toData(
  name: 'request' | 'response',
  { text, bytes, isCut }: Part,
  contentType: unknown,
): object {
  const value = isEventStream(contentType) ? eventsOf(text, isCut) : toValue(text, isCut)
  return { [name]: value, ...(isCut ? { [`${name}_cut`]: true, [`${name}_bytes`]: bytes } : {}) }
}

function toValue(text: string, isCut: boolean): unknown {
  const value = readCutJson(text, { isCut })
  return value === undefined ? redact(text) : redactData(value)
}

/** The data of each event; only the last one may be cut. */
function eventsOf(text: string, isCut: boolean): unknown[] {
  const lines = text.split(/\r?\n/)
  return lines.flatMap((line, at) => {
    const data = line.startsWith('data:') ? line.slice(5).trim() : ''
    return data ? [toValue(data, isCut && at === lines.length - 1)] : []
  })
}
