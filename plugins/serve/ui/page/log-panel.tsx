import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { count } from './count.ts'
import { createLines, type Line, readLog } from './log-lines.ts'
import type { PanelProps } from './panel.ts'
import { saveText } from './save-file.ts'

const NEAR_END_PX = 24

export type LogName = 'logs' | 'proxy-logs'

/** A log that follows while its end is in sight, and stays where it is when one has scrolled up. */
export function Log(props: PanelProps & { which: LogName }) {
  const { which, workload } = props
  const { lines, state } = useLog(props)
  const [wanted, setWanted] = useState('')
  const [hasTimes, setTimes] = useState(true)
  /** What was there when the user paused. */
  const [paused, setPaused] = useState<readonly Line[] | undefined>()
  const found = (paused ?? lines).filter(({ text }) => text.toLowerCase().includes(wanted.toLowerCase()))
  const place = useRef<HTMLPreElement>(null)
  useFollow(place, found)

  const newest = paused?.at(-1)?.id ?? -1
  const waiting = paused ? lines.filter(({ id }) => id > newest).length : 0
  return (
    <>
      <div class="log-tools">
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search"
          autocomplete="off"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
        <button
          type="button"
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused ? undefined : lines)}
        >
          Pause
        </button>
        <button type="button" aria-pressed={hasTimes} onClick={() => setTimes(!hasTimes)}>
          Times
        </button>
        <button
          type="button"
          onClick={() =>
            saveText(
              `${workload.name}.${which}.txt`,
              lines.map(line => `${textOf(line, hasTimes)}\n`),
            )
          }
        >
          Download
        </button>
      </div>
      <p class="log-state" role="status">
        {paused ? `Paused, ${count(waiting, 'new line')}` : state}
        {wanted && ` · ${count(found.length, 'line')} with “${wanted}”`}
      </p>
      <pre
        ref={place}
        class="log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={which === 'logs' ? 'Log of the server' : 'Log of the proxy'}
      >
        {found.map(({ id, time, text }) => (
          <span key={id}>
            {hasTimes && time && <time dateTime={time.toISOString()}>{clock(time)}</time>}
            {`${text}\n`}
          </span>
        ))}
      </pre>
    </>
  )
}

const clock = (time: Date): string => `${time.toLocaleTimeString(undefined, { hourCycle: 'h23' })}  `

const textOf = ({ time, text }: Line, hasTimes: boolean): string =>
  hasTimes && time ? `${time.toISOString()} ${text}` : text

/** The lines of a log as they come. They are kept when the server goes down or nobody looks. */
function useLog({ api, workload, isSeen, connection, which }: PanelProps & { which: LogName }) {
  const { name, status, started_at } = workload
  /** Which start of the server the log is of; '' while nobody looks. */
  const opened = useRef('')
  // A server that comes up has a new log; one that goes down keeps what it has printed in sight.
  const start = status === 'running' ? started_at : opened.current || 'none'
  opened.current = isSeen ? start : ''
  const following = opened.current
  const [lines, setLines] = useState<readonly Line[]>([])
  const [state, setState] = useState('')
  useEffect(() => {
    if (!following) return
    const ending = new AbortController()
    const { signal } = ending
    const kept = createLines()
    setLines([])
    setState('Opening the log')
    readLog(api, `/api/v1beta/workloads/${encodeURIComponent(name)}/${which}/stream`, {
      signal,
      onOpen: () => setState('Follows what is printed'),
      onText: text => setLines(kept.add(text)),
    }).then(
      hasEnded => signal.aborted || setState(hasEnded ? 'The log ends here' : 'The connection was lost'),
      error => signal.aborted || setState(error.message),
    )
    return () => ending.abort()
  }, [following, connection])
  return { lines, state }
}

/** Scrolls to the end when lines are added, if the end was in sight before. */
function useFollow(place: { current: HTMLElement | null }, lines: readonly Line[]): void {
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    if (place.current && isAtEnd.current) place.current.scrollTop = place.current.scrollHeight
  }, [lines.at(-1)?.id])
  useEffect(() => {
    const look = () => {
      const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = place.current ?? {}
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    }
    place.current?.addEventListener('scroll', look)
    return () => place.current?.removeEventListener('scroll', look)
  }, [])
}
