import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Tool, Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { element } from './element.js'
import type { Panel } from './tabs.js'
import { ToolItem } from './tool-item.tsx'

/** The tools that the server of a workload offers. `end` cancels the calls that run. */
export function createToolsPanel(
  api: Api,
  workload: () => Workload | undefined,
): Panel & { end: () => void } {
  const node = element('div', { class: 'tools' })
  const draw = (isSeen: boolean) => {
    const now = workload()
    if (now) render(<Tools {...{ api, workload: now, isSeen }} />, node)
  }
  return { node, show: () => draw(true), hide: () => draw(false), end: () => render(null, node) }
}

interface Offer {
  /** Which start of the server it is of. */
  readonly of: string
  readonly tools?: readonly Tool[]
  readonly problem?: string
}

/** The server is asked once each time it comes up, when the list is seen. */
function Tools({ api, workload, isSeen }: { api: Api; workload: Workload; isSeen: boolean }) {
  const { name, status, started_at } = workload
  const start = `${status} ${started_at}`
  const [offer, setOffer] = useState<Offer | undefined>()
  const known = offer?.of === start ? offer : undefined
  const isRunning = status === 'running'
  const isAsking = isSeen && isRunning && !known

  useEffect(() => {
    if (!isAsking) return
    const ending = new AbortController()
    const { signal } = ending
    const path = `/api/v1beta/workloads/${encodeURIComponent(name)}/tools`
    api.get(path, signal).then(
      ({ tools }) => signal.aborted || setOffer({ of: start, tools }),
      error => signal.aborted || setOffer({ of: start, problem: error.message }),
    )
    return () => ending.abort()
  }, [isAsking, start])

  if (!isRunning) return <p class="empty">The tools are listed here while the server runs.</p>
  if (!known) return <p class="empty">Asking the server…</p>
  if (!known.tools)
    return (
      <>
        <p class="empty">{known.problem}</p>
        <button type="button" onClick={() => setOffer(undefined)}>
          Ask again
        </button>
      </>
    )
  if (known.tools.length === 0) return <p class="empty">This server offers no tools.</p>
  return (
    <ul>
      {known.tools.map(tool => (
        <ToolItem key={tool.name} {...{ api, workload: name, tool }} />
      ))}
    </ul>
  )
}
