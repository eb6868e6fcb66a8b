import type { Writable } from 'node:stream'
import type { Report } from '../contracts/runtime.ts'
import { clean, isTerminal, toTerminal } from './output.ts'

export interface Progress {
  readonly report: Report
  /** Clears the line. On a terminal, a text stays in its place, with a tick and the total time. */
  done(text?: string): void
}

const QUIET_MS = 300
const FRAME_MS = 120
const FRAMES = [
  '\u280b',
  '\u2819',
  '\u2839',
  '\u2838',
  '\u283c',
  '\u2834',
  '\u2826',
  '\u2827',
  '\u2807',
  '\u280f',
]

/**
 * Progress of long work. On a terminal one line with a spinner, the step and its time, shown only when the work takes
 * some time; elsewhere a line for each step, without details. With `verbose` each step and each detail is a line that stays.
 */
export function createProgress(
  stream: Writable,
  now: () => number = Date.now,
  { verbose = false } = {},
): Progress {
  const terminal = isTerminal(stream)
  const columns = 'columns' in stream && typeof stream.columns === 'number' ? stream.columns : 80
  const started = now()
  let last = ''
  let since = started
  let frame = 0
  let timer: NodeJS.Timeout | undefined
  const seconds = (from: number) => `${Math.round((now() - from) / 1000)} s`
  const write = (text: string) => stream.write(toTerminal(text, stream))

  function draw(): void {
    if (now() - started <= QUIET_MS) return
    const line = `${FRAMES[frame++ % FRAMES.length]} ${last} (${seconds(since)})`
    write(`\r\u001b[2K${[...line].slice(0, columns - 1).join('')}`)
  }

  return {
    report(line, kind = 'step') {
      // A line of a server must not become several, which would stay and could look like lines of ours.
      const text = clean(line).replaceAll(/\s+/g, ' ').trim()
      if (!text || text === last) return
      last = text
      since = now()
      if (!terminal || verbose) {
        if (kind === 'step' || verbose) write(`${text}\n`)
        return
      }
      timer ??= setInterval(draw, FRAME_MS).unref()
      draw()
    },
    done(text) {
      clearInterval(timer)
      timer = undefined
      if (terminal && last && !verbose) stream.write('\r\u001b[2K')
      if (terminal && text && now() - started > QUIET_MS) write(`\u2713 ${text} (${seconds(started)})\n`)
      last = ''
    },
  }
}
