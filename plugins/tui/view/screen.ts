import { Box, useApp, useWindowSize } from 'ink'
import { createElement as h, type ReactElement, useCallback, useState } from 'react'
import { clean } from '../../../src/lib/printable.ts'
import type { Action, Workbench } from '../workbench.ts'
import { clientSnippet, toClipboard } from './clipboard.ts'
import { DenialPanel } from './denial-panel.ts'
import { KeyBar } from './key-bar.ts'
import { helpLines, LIST_KEYS } from './keys.ts'
import { line } from './lines.ts'
import { LogPanel } from './log-panel.ts'
import type { PanelProps } from './panel.ts'
import { ToolPanel } from './tool-panel.ts'
import { useKeys, useLive } from './use-keys.ts'
import { useWorkloads } from './use-workloads.ts'
import { WorkloadRows } from './workload-rows.ts'

/** The panels by title. Each workload has panels of its own, as their keys say. */
const PANELS: readonly (readonly [title: string, show: (props: PanelProps) => ReactElement])[] = [
  ['Log', props => h(LogPanel, { ...props, kind: 'server', key: `log ${props.row.name}` })],
  ['Proxy log', props => h(LogPanel, { ...props, kind: 'proxy', key: `proxy ${props.row.name}` })],
  ['Tools', props => h(ToolPanel, { ...props, key: props.row.name })],
  ['Denials', props => h(DenialPanel, { ...props, key: props.row.name })],
]

const DONE: Readonly<Record<Action, string>> = {
  start: 'started',
  stop: 'stopped',
  restart: 'restarted',
  remove: 'removed',
}

/** Where keys go. */
type Focus = 'list' | 'panel' | 'search' | 'confirm' | 'help'

/** The header, the list, the panels and the keys; it fills the terminal. It is long because every key is handled here. */
export function Screen({ bench, write }: { bench: Workbench; write: (text: string) => void }) {
  const { exit } = useApp()
  const { columns: width, rows: height } = useWindowSize()
  const { rows, problem } = useWorkloads(bench)
  const name = useLive<string | undefined>(() => undefined)
  const shown = useLive(() => 0)
  const [focus, setFocus] = useState<Focus>('list')
  const search = useLive(() => '')
  const [message, setMessage] = useState('')
  /** The workload that the user was asked about: by the time of the answer, another one may be chosen. */
  const [leaving, setLeaving] = useState('')
  const indexOfChosen = () => Math.max(0, rows?.findIndex(row => row.name === name.now) ?? 0)
  const chosen = indexOfChosen()
  const row = rows?.[chosen]
  const say = useCallback((text: string) => setMessage(clean(text)), [])

  async function act(action: Action, workload: string): Promise<void> {
    say(`${workload}: wait ...`)
    await bench.act(action, workload).then(
      () => say(`${workload}: ${DONE[action]}`),
      (error: Error) => say(error.message),
    )
  }

  function copy(text: string, what: string): void {
    write(toClipboard(text))
    say(`Copied ${what}`)
  }

  const move = (by: number) =>
    name.set(rows?.[Math.max(0, Math.min(indexOfChosen() + by, rows.length - 1))]?.name)
  const turn = (by: number) => {
    shown.set((shown.now + by + PANELS.length) % PANELS.length)
    search.set('')
  }

  useKeys(
    (input, key) => {
      setMessage('')
      if (input === 'q') exit()
      else if (input === '?') setFocus('help')
      else if (key.upArrow || input === 'k') move(-1)
      else if (key.downArrow || input === 'j') move(1)
      else if (key.tab || key.leftArrow || key.rightArrow) turn(key.shift || key.leftArrow ? -1 : 1)
      else if (!row) return
      else if (input === 's') void act(row.isUp ? 'stop' : 'start', row.name)
      else if (input === 'r') void act('restart', row.name)
      else if (input === 'd') {
        say(`Remove ${row.name} for good? y: yes, any other key: no`)
        setLeaving(row.name)
        setFocus('confirm')
      } else if (input === 'u') copy(row.url, row.url)
      else if (input === 'c') copy(clientSnippet(row), `the configuration of ${row.name} for clients`)
      else if (input === '/') setFocus('search')
      else if (key.escape) search.set('')
      else if (key.return) setFocus('panel')
    },
    { isActive: focus === 'list' },
  )
  useKeys(
    input => {
      setMessage('')
      setFocus('list')
      if (input === 'y') void act('remove', leaving)
    },
    { isActive: focus === 'confirm' },
  )
  useKeys(() => setFocus('list'), { isActive: focus === 'help' })
  useKeys(
    (input, key) => {
      if (key.escape) search.set('')
      if (key.escape || key.return) setFocus('list')
      else if (key.backspace || key.delete) search.set(search.now.slice(0, -1))
      else if (!key.ctrl && !key.meta) search.set(search.now + clean(input))
    },
    { isActive: focus === 'search' },
  )

  if (focus === 'help') {
    const lines = ['keelson: keys', '', ...helpLines()].slice(0, height - 1)
    return h(
      Box,
      { flexDirection: 'column', height, width },
      ...lines.map((text, key) => line(text, { key })),
    )
  }
  const listHeight = Math.max(1, Math.min(rows?.length ?? 1, Math.floor((height - 6) / 2)))
  const isInPanel = focus === 'panel'
  // The panel with the keys has the bottom line.
  const panelHeight = height - listHeight - (isInPanel ? 3 : 4)
  const up = rows?.filter(({ isUp }) => isUp).length ?? 0
  const header = problem ?? (rows ? `keelson: ${up} of ${rows.length} workloads up` : 'keelson: reading ...')
  const found = search.now ? `Search: ${search.now}   (esc: show all)` : ''
  const note = focus === 'search' ? `Search: ${search.now}_` : message || found
  const panel = {
    bench,
    row,
    width,
    height: panelHeight,
    search: search.now,
    say,
    isActive: isInPanel,
  }
  return h(
    Box,
    { flexDirection: 'column', height, width },
    line(clean(header), { bold: true }),
    rows?.length === 0
      ? line('No workloads yet. `keelson run NAME` makes one; q ends this view.')
      : h(WorkloadRows, { rows: rows ?? [], chosen, height: listHeight, width }),
    note ? line(note, { color: 'yellow' }) : line(row?.reason ?? '', { color: 'red' }),
    h(
      Box,
      { columnGap: 2 },
      ...PANELS.map(([title], i) =>
        line(i === shown.now ? `[${title}]` : ` ${title} `, { key: title, bold: i === shown.now }),
      ),
    ),
    h(
      Box,
      { flexDirection: 'column', height: panelHeight, overflow: 'hidden' },
      row
        ? PANELS[shown.now]?.[1]({
            ...panel,
            row,
            onLeave: () => setFocus('list'),
            onSearch: () => setFocus('search'),
          })
        : null,
    ),
    isInPanel ? null : h(KeyBar, { keys: LIST_KEYS, width }),
  )
}
