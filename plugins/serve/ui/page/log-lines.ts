import type { Api } from './api.ts'
import { logLine } from './log-line.ts'
import { readEvents } from './read-events.ts'

/** A line of a log; `id` tells equal ones apart. */
export interface Line {
  readonly id: number
  /** When it was logged, as it says itself; of one that came while somebody looked, when it came. */
  readonly time?: Date
  readonly text: string
}

const MOST_LINES = 2000
const LONGEST = 65_536
/** What comes earlier than this after a log was opened was printed before. */
const BACKLOG_MS = 1000

/** The last lines and `text` behind them. What is no whole line yet is kept for the next time. */
export function createLines() {
  let lines: readonly Line[] = []
  let begun = ''
  let count = 0
  const opened = Date.now()
  return {
    add(text: string): readonly Line[] {
      const now = new Date()
      const came = now.getTime() - opened < BACKLOG_MS ? {} : { time: now }
      const parts = (begun + text).split('\n')
      begun = parts.pop() ?? ''
      if (begun.length > LONGEST) {
        parts.push(begun)
        begun = ''
      }
      const more = parts.slice(-MOST_LINES).map(part => ({ id: count++, ...came, ...logLine(part) }))
      lines = [...lines, ...more].slice(-MOST_LINES)
      return lines
    },
  }
}

/** Reads a log until it ends or `signal` aborts. Returns whether it has ended by itself. */
export async function readLog(
  api: Api,
  path: string,
  { signal, onOpen, onText }: { signal: AbortSignal; onOpen: () => void; onText: (text: string) => void },
): Promise<boolean> {
  const response = await api.stream(path, signal)
  onOpen()
  let hasEnded = false
  for await (const { name, data } of readEvents(response)) {
    if (name === 'log') onText(String(data))
    hasEnded = name === 'end'
  }
  return hasEnded
}
