import { createElement as h, useEffect, useState } from 'react'
import { clean } from '../../../src/lib/printable.ts'
import type { Tool } from '../workbench.ts'
import { TOOL_KEYS } from './keys.ts'
import { line, windowOf } from './lines.ts'
import { contains, type PanelProps } from './panel.ts'
import { panelLines } from './panel-lines.ts'
import { ToolForm } from './tool-form.ts'
import { useKeys, useLive } from './use-keys.ts'

/** The tools of a workload; enter leads to a form that calls the chosen one. */
export function ToolPanel(props: PanelProps) {
  const { bench, row, width, height, search, isActive, onLeave, onSearch } = props
  const [known, setKnown] = useState<{ tools: readonly Tool[]; problem?: string }>()
  const at = useLive(() => 0)
  const [opened, setOpened] = useState<Tool>()
  const { name, isUp } = row
  useEffect(() => {
    const ending = new AbortController()
    setKnown(isUp ? undefined : { tools: [], problem: 'It is not running.' })
    setOpened(undefined)
    if (isUp)
      bench.tools(name, ending.signal).then(
        tools => setKnown({ tools }),
        (error: Error) => {
          if (!ending.signal.aborted) setKnown({ tools: [], problem: clean(error.message) })
        },
      )
    return () => ending.abort()
  }, [bench, name, isUp])

  const tools = (known?.tools ?? []).filter(tool => contains(`${tool.name} ${tool.description}`, search))
  const chosen = Math.min(at.now, tools.length - 1)
  const move = (by: number) => at.set(Math.max(0, Math.min(at.now + by, tools.length - 1)))
  useKeys(
    (input, key) => {
      if (key.escape) onLeave()
      else if (input === '/') onSearch()
      else if (key.upArrow) move(-1)
      else if (key.downArrow) move(1)
      else if (key.return) setOpened(tools[chosen])
    },
    { isActive: isActive && !opened },
  )
  if (opened)
    return h(ToolForm, { ...props, key: opened.name, tool: opened, onLeave: () => setOpened(undefined) })

  const widest = Math.min(32, Math.max(0, ...tools.map(tool => tool.name.length)))
  const rows = windowOf(tools, { height: height - 1, chosen }).map(tool => {
    const mark = isActive && tool === tools[chosen] ? '> ' : '  '
    return line(`${mark}${clean(tool.name).padEnd(widest)}  ${tool.description}`, { key: tool.name })
  })
  const nothing = known ? (known.problem ?? 'It has no such tools.') : 'Asking the server ...'
  return panelLines(rows, { height, width, nothing, keys: isActive ? TOOL_KEYS : undefined })
}
