import { readMessage } from '../../../src/net/rpc-message.ts'
import type { Rewriting } from './rewriting.ts'

/** An event that is longer is not waited for. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024
const MARK = '\u00EF\u00BB\u00BF'
/** A blank line at the end of a text. */
const AT_END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))$/

/** Rewrites the messages in the events of a stream (WHATWG HTML, section 9.2.6); all text is raw. */
export interface EventRewriter {
  /** The events that are whole now. Throws when one of them is too long. */
  push(chunk: string): Promise<string>
  /** Whether what was returned ends with a whole event. */
  isBetween(): boolean
  /** The rest. What no blank line ended is not an event. */
  end(): string
}

export function createEventRewriter(rewriting: Rewriting): EventRewriter {
  const blank = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g
  let parts: string[] = []
  let length = 0
  /** The end of `parts`, where a blank line may have begun. */
  let tail = ''
  let isFirst = true
  /** Whether a part of the event has been returned already, when nothing was to be rewritten. */
  let isBegun = false

  /** The end of what was returned, or two line ends. */
  let last = '\n\n'

  /** Returns all that there is at once, and notes where it stands. */
  function pass(chunk: string): string {
    const text = parts.join('') + chunk
    last = (last + text).slice(-4)
    isBegun = !AT_END.test(last)
    tail = isBegun ? last.slice(-3) : ''
    parts = []
    length = 0
    isFirst &&= text === ''
    return text
  }

  function* eventsWith(chunk: string): Generator<string> {
    let rest = chunk
    for (;;) {
      const text = tail + rest
      blank.lastIndex = 0
      if (!blank.test(text)) break
      const end = blank.lastIndex - tail.length
      yield parts.join('') + rest.slice(0, end)
      rest = rest.slice(end)
      parts = []
      length = 0
      tail = ''
    }
    parts.push(rest)
    length += rest.length
    tail = (tail + rest).slice(-3)
    if (length > MAX_EVENT_BYTES) throw new Error('an event of the server is too long')
  }

  async function rewrite(event: string): Promise<string> {
    const lines = event.split(/\r\n|\r|\n/)
    const data = lines.flatMap(line => (fieldOf(line) === 'data' ? textAfter(line) : []))
    if (data.length === 0) return event
    const text = data.join('\n')
    const type = textAfter(lines.findLast(line => fieldOf(line) === 'event') ?? '')
    const isMessage = type === '' || type === 'message'
    if (text.trim() === '' || (!isMessage && !readMessage(text))) return event
    const changed = await rewriting.text(text)
    if (changed === text) return event
    const first = lines.findIndex(line => fieldOf(line) === 'data')
    const kept = lines.flatMap((line, index) => {
      if (line === '') return []
      if (index === first) return `data: ${changed}\n`
      return fieldOf(line) === 'data' ? [] : `${line}\n`
    })
    return `${kept.join('')}\n`
  }

  return {
    async push(chunk) {
      if (!rewriting.isNeeded()) return pass(chunk)
      let out = ''
      for (const event of eventsWith(chunk)) {
        last = '\n\n'
        if (isBegun) {
          out += event
          isBegun = false
          continue
        }
        out += await rewrite(isFirst && event.startsWith(MARK) ? event.slice(MARK.length) : event)
        isFirst = false
      }
      return out
    },
    isBetween: () => !isBegun,
    end() {
      if (!rewriting.awaited || rewriting.isAnswered()) return ''
      return `event: message\ndata: ${rewriting.unreadable('its stream has no response')}\n\n`
    },
  }
}

const fieldOf = (line: string): string => line.split(':', 1)[0] as string

function textAfter(line: string): string {
  const colon = line.indexOf(':')
  return colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
}
