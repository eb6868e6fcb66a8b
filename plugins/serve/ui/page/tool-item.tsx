import type { Tool } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { CallForm } from './call-form.tsx'
import { Description, Opening } from './opening.tsx'

/** A tool that opens to its description and a form that calls it. */
export const ToolItem = ({ api, workload, tool }: { api: Api; workload: string; tool: Tool }) => (
  <Opening name={tool.name} brief={tool.description?.trim().split('\n', 1)[0] || tool.title || ''}>
    {() => (
      <>
        <Description text={tool.description} />
        <CallForm {...{ api, workload, tool }} />
      </>
    )}
  </Opening>
)
