import { useState } from 'preact/hooks'
import type { Tool } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { CallForm } from './call-form.tsx'

/** A tool that opens to its description and a form that calls it. The form is made when it is first opened. */
export function ToolItem({ api, workload, tool }: { api: Api; workload: string; tool: Tool }) {
  const [wasOpened, setOpened] = useState(false)
  const text = tool.description?.trim() ?? ''
  return (
    <li>
      <details onToggle={() => setOpened(true)}>
        <summary>
          <code>{tool.name}</code>
          <span class="brief">{text.split('\n', 1)[0] || tool.title || ''}</span>
        </summary>
        {text ? <p class="said">{text}</p> : <p class="soft">It has no description.</p>}
        {wasOpened && <CallForm {...{ api, workload, tool }} />}
      </details>
    </li>
  )
}
