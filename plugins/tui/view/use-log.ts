import { useEffect, useState } from 'react'
import { clean } from '../../../src/lib/printable.ts'
import type { LogKind, Row, Workbench } from '../workbench.ts'

/** Most lines of a log that are kept, and most characters of each. */
const MOST_LINES = 5000
const MOST_CHARACTERS = 4000
/** Most characters that wait to be shown: a server may write faster than anybody reads. */
const MOST_PENDING = 1_000_000
/** Lines that come together are shown together; in milliseconds. */
const SETTLE_MS = 100

/** The last lines of a workload's log, kept up to date. It is read again when the workload starts or stops. */
export function useLog(bench: Workbench, { name, isUp }: Row, kind: LogKind): readonly string[] {
  const [lines, setLines] = useState<readonly string[]>([])
  // A server that was started again has another log.
  useEffect(() => {
    const ending = new AbortController()
    let pending = ''
    let timer: NodeJS.Timeout | undefined
    setLines([])
    const show = () => {
      timer = undefined
      const text = pending
      pending = ''
      setLines(before => append(before, text))
    }
    async function read() {
      for await (const text of bench.log(name, kind, ending.signal)) {
        pending = (pending + text).slice(-MOST_PENDING)
        timer ??= setTimeout(show, SETTLE_MS)
      }
    }
    read().catch((error: Error) => {
      if (!ending.signal.aborted) setLines(before => [...before, clean(error.message)])
    })
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [bench, name, isUp, kind])
  return lines
}

/** The last of the lines may be unfinished. */
function append(before: readonly string[], text: string): readonly string[] {
  const [first = '', ...more] = text.split('\n')
  const added = [(before.at(-1) ?? '') + first, ...more].map(line => line.slice(0, MOST_CHARACTERS))
  return [...before.slice(0, -1), ...added].slice(-MOST_LINES)
}
