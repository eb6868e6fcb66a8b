import { useState } from 'react'
import type { LogKind } from '../workbench.ts'
import { LOG_KEYS } from './keys.ts'
import { line, wrapLines } from './lines.ts'
import { contains, type PanelProps } from './panel.ts'
import { panelLines } from './panel-lines.ts'
import { useKeys } from './use-keys.ts'
import { useLog } from './use-log.ts'

/** The end of a log, which goes on while it is shown, unless the user has scrolled up. */
export function LogPanel(props: PanelProps & { kind: LogKind }) {
  const { bench, row, kind, width, search, isActive, onLeave, onSearch } = props
  const lines = useLog(bench, row, kind)
  /** How many lines stand below those that are shown. */
  const [below, setBelow] = useState(0)
  const height = props.height - (isActive ? 1 : 0)
  const all = lines.filter(text => contains(text, search)).flatMap(text => wrapLines(text, width))
  while (all.at(-1) === '') all.pop()
  const most = Math.max(0, all.length - height)
  const scroll = (by: number) => setBelow(before => Math.max(0, Math.min(before + by, most)))

  useKeys(
    (input, key) => {
      if (key.escape) onLeave()
      else if (input === '/') onSearch()
      else if (key.upArrow) scroll(1)
      else if (key.downArrow) scroll(-1)
      else if (key.pageUp) scroll(height)
      else if (key.pageDown) scroll(-height)
      else if (key.home) scroll(most)
      else if (key.end) setBelow(0)
    },
    { isActive },
  )
  const start = Math.max(0, all.length - height - Math.min(below, most))
  const shown = all.slice(start, start + height)
  return panelLines(
    shown.map((text, key) => line(text, { key })),
    { height: props.height, width, nothing: '(nothing yet)', keys: isActive ? LOG_KEYS : undefined },
  )
}
