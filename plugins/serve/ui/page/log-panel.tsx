import { render } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { element } from './element.js'
import { createLines, type Line, readLog } from './log-lines.ts'
import { plainText } from './plain-text.ts'
import type { Panel } from './tabs.js'

const NEAR_END_PX = 24

export type LogName = 'logs' | 'proxy-logs'

/** A log that follows while its end is in sight, and stays where it is when one has scrolled up. */
export function createLogPanel(api: Api, workload: () => Workload | undefined, which: LogName): Panel {
  const node = element('div')
  let opened = ''
  /** A server that comes up has a new log; one that goes down keeps what it has printed in sight. */
  const startOf = ({ status, started_at }: Workload) => (status === 'running' ? started_at : opened || 'none')
  const draw = (start: string) => {
    const now = workload()
    opened = start
    if (now) render(<Log {...{ api, name: now.name, which, start }} />, node)
  }
  return {
    node,
    show() {
      const now = workload()
      if (now && startOf(now) !== opened) draw(startOf(now))
    },
    hide: () => draw(''),
  }
}

interface LogProps {
  readonly api: Api
  readonly name: string
  readonly which: LogName
  /** Which start of the server it is of; '' while nobody looks. */
  readonly start: string
}

function Log(props: LogProps) {
  const { name, which } = props
  const { lines, state } = useLog(props)
  const [wanted, setWanted] = useState('')
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
        <button type="button" onClick={() => save(`${name}.${which}.txt`, lines)}>
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
        {found.map(({ id, text }) => (
          <span key={id}>{`${text}\n`}</span>
        ))}
      </pre>
    </>
  )
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

/** The lines of a log as they come. They are kept when the server goes down or nobody looks. */
function useLog({ api, name, which, start }: LogProps) {
  const [lines, setLines] = useState<readonly Line[]>([])
  const [state, setState] = useState('')
  useEffect(() => {
    if (!start) return
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
  }, [start])
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

/** Saves the lines as a file, without what would steer the terminal that shows it. */
function save(file: string, lines: readonly Line[]): void {
  const url = URL.createObjectURL(
    new Blob(
      lines.map(({ text }) => `${plainText(text)}\n`),
      { type: 'text/plain' },
    ),
  )
  element('a', { href: url, download: file }).click()
  URL.revokeObjectURL(url)
}
