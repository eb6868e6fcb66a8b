import { isObject } from '../../../src/lib/is-object.ts'
import { parseRaw, toRaw } from '../../../src/lib/raw-json.ts'
import type { Offer } from '../server/merged-lists.ts'
import type { Annotations } from './actions.ts'
import { outputSchemaOf } from './compose-output.ts'
import type { Workflow } from './workflow.ts'

/** The tools of an endpoint by the names that clients know them by. */
export type Offers = ReadonlyMap<string, Offer>

/** The definition of a workflow as a tool (`Tool` of MCP); raw text. */
export function definitionOf(workflow: Workflow, offers: Offers): string {
  const { name, description, parameters = { type: 'object' }, annotations } = workflow
  const outputSchema = outputSchemaOf(workflow)
  const definition = {
    ...{ name, description, inputSchema: parameters },
    ...(outputSchema ? { outputSchema } : {}),
    annotations: { ...hintsOf(workflow, offers), ...annotations },
  }
  return toRaw(JSON.stringify(definition))
}

/** A workflow does what its steps do. A tool that is not there, or says nothing of itself, may do anything. */
function hintsOf(workflow: Workflow, offers: Offers): Annotations {
  const steps = toolsOf(workflow).map(tool => annotationsOf(tool, offers))
  const isReadOnly = steps.every(({ readOnlyHint }) => readOnlyHint === true)
  return {
    readOnlyHint: isReadOnly,
    ...(isReadOnly
      ? {}
      : { destructiveHint: steps.some(({ destructiveHint }) => destructiveHint !== false) }),
    openWorldHint: steps.some(({ openWorldHint }) => openWorldHint !== false),
  }
}

/** The tools that the steps of a workflow call. */
const toolsOf = ({ steps }: Workflow): string[] =>
  steps.flatMap(step => (step.type === 'forEach' ? step.step?.tool : step.tool) ?? [])

function annotationsOf(tool: string, offers: Offers): Annotations {
  const item = offers.get(publicName(tool, offers))?.item
  const definition = item === undefined ? undefined : parseRaw(item)
  return isObject(definition) && isObject(definition.annotations) ? definition.annotations : {}
}

/** The name that clients know a tool by, of that name or of `SERVER.TOOL`. */
export function publicName(tool: string, offers: Offers): string {
  const dot = tool.indexOf('.')
  if (offers.has(tool) || dot === -1) return tool
  const [server, name] = [tool.slice(0, dot), tool.slice(dot + 1)]
  const found = [...offers].find(([, offer]) => offer.server === server && offer.name === name)
  return found?.[0] ?? tool
}
