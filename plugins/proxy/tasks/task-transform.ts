import { mayNameTask } from './task-messages.ts'

/** Larger messages are passed on without being read; a list of tasks is not passed on then. */
const MOST_CHARS = 16 * 1024 * 1024

/**
 * Makes a function that passes the messages of a response through `take`: the body of a JSON response, or the lines
 * of data of an event stream, held until they are complete. What `take` returns undefined for is left out where it
 * could hold tasks.
 */
export function createTaskTransform({
  isStream,
  isList,
  take,
}: {
  isStream: boolean
  isList: boolean
  take: (message: string) => string | undefined
}): (chunk: Buffer | undefined) => Buffer {
  /** What no line has ended yet, in the parts that came: joining them each time would take long. */
  let held: string[] = []
  let length = 0
  let isOver = false

  const line = (text: string): string => {
    if (!text.startsWith('data:') || !mayNameTask(text)) return text
    const message = take(text.slice('data:'.length).trim())
    if (message !== undefined) return `data: ${message}`
    return isList || text.includes('"taskId"') ? 'data:' : text
  }
  const lines = (text: string): string =>
    text
      .split(/(\r\n|\r|\n)/)
      .map((part, i) => (i % 2 ? part : line(part)))
      .join('')

  return chunk => {
    if (isOver) return chunk ?? Buffer.alloc(0)
    const text = chunk?.toString('latin1') ?? ''
    const end = isStream ? lineEnd(text) : 0
    let out = ''
    if (chunk === undefined || end > 0) {
      const ready = held.join('') + text.slice(0, end)
      held = []
      length = 0
      out = isStream ? lines(ready) : ready && (take(ready) ?? (isList ? '' : ready))
    }
    held.push(text.slice(end))
    length += text.length - end
    if (length > MOST_CHARS) {
      if (isList) throw new Error('a list of tasks is too long')
      isOver = true
      out += held.join('')
      held = []
    }
    return Buffer.from(out, 'latin1')
  }
}

const lineEnd = (text: string): number => Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1
