import type { Writable } from 'node:stream'
import type { Report } from '../contracts/runtime.ts'
import { clean, isTerminal } from './output.ts'

export interface Progress {
  readonly report: Report
  /** Clears the line. */
  done(): void
}

const QUIET_MS = 300

/**
 * Progress of long work. On a terminal one line that replaces itself, shown only when the work
 * takes some time; elsewhere a line for each step, without details.
 */
export function createProgress(stream: Writable, now: () => number = Date.now): Progress {
  const terminal = isTerminal(stream)
  const columns = 'columns' in stream && typeof stream.columns === 'number' ? stream.columns : 80
  const started = now()
  let last = ''
  return {
    report(line, kind = 'step') {
      // A line of a server must not become several, which would stay and could look like lines of ours.
      const text = clean(line).replaceAll(/\s+/g, ' ').trim()
      if (!text || text === last) return
      last = text
      if (!terminal) {
        if (kind === 'step') stream.write(`${text}\n`)
      } else if (now() - started > QUIET_MS) stream.write(`\r\u001b[2K${text.slice(0, columns - 1)}`)
    },
    done() {
      if (terminal && last) stream.write('\r\u001b[2K')
      last = ''
    },
  }
}
