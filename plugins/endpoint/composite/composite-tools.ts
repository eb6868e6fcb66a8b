import { messageOf } from '../../../src/errors.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { parseRaw, toRaw } from '../../../src/lib/raw-json.ts'
import { idKey, param, paramText, type Request, resultText } from '../../../src/net/rpc-message.ts'
import { LIST_KINDS } from '../names/list-kinds.ts'
import type { MergedList } from '../server/merged-lists.ts'
import type { OwnTools } from '../server/own-tools.ts'
import type { Answer, ToolDefinition } from './actions.ts'
import { definitionOf, type Offers, publicName } from './definition.ts'
import { runWorkflow } from './run-workflow.ts'
import type { StepSession } from './step-session.ts'
import type { Workflow } from './workflow.ts'

type CompositeTools = Pick<OwnTools, 'listed' | 'isFor' | 'call' | 'cancel'>

export function createCompositeTools(options: {
  workflows: readonly Workflow[]
  steps: StepSession
  /** The tools of the servers. */
  tools: () => Promise<MergedList>
  /** Sends the client a request (method, parameters as raw text). Returns the result. */
  ask: (method: string, params: string, signal: AbortSignal) => Promise<unknown>
  /** Sends the client a notification. */
  tell: (text: string) => void
}): CompositeTools {
  const { steps, tools, ask, tell } = options
  const workflows = new Map(options.workflows.map(workflow => [workflow.name, workflow]))
  /** What runs, by the id of its request. */
  const running = new Map<string, AbortController>()

  const find = (request: Request) =>
    request.method === 'tools/call' ? workflows.get(String(param(request, 'name'))) : undefined

  async function run(request: Request, workflow: Workflow, signal: AbortSignal): Promise<unknown> {
    const { offers } = await tools()
    const token = paramText(request, '_meta', 'progressToken')
    const total = workflow.steps.length
    return runWorkflow(workflow, {
      params: param(request, 'arguments') ?? {},
      signal,
      actions: {
        call: (tool, args, until) => steps.call(publicName(tool, offers), args, until),
        describe: async tool => describe(publicName(tool, offers), offers) ?? steps.describe(tool),
        async ask(message, requestedSchema, until) {
          const params = toRaw(JSON.stringify({ message, requestedSchema }))
          return (await ask('elicitation/create', params, until)) as Answer
        },
      },
      onStep(progress, step, { status }) {
        if (token === undefined) return
        const facts = JSON.stringify({ progress, total, message: `${step.id}: ${status}` })
        const params = `{"progressToken":${token},${toRaw(facts).slice(1)}`
        tell(`{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`)
      },
    })
  }

  return {
    listed(servers) {
      const { list, rename } = LIST_KINDS['tools/list'] as (typeof LIST_KINDS)[string]
      const own = [...workflows.values()].map(workflow => definitionOf(workflow, servers.offers))
      const others = [...servers.offers]
        .filter(([name]) => !workflows.has(name))
        .map(([name, { server, item }]) => rename(item, { server, name }))
      return { ...servers, result: `{"${list}":[${[...own, ...others].join(',')}]}` }
    },
    isFor: request => find(request) !== undefined,
    async call(request) {
      const workflow = find(request) as Workflow
      const key = idKey(request.idText)
      const stop = new AbortController()
      running.set(key, stop)
      try {
        return resultText(request.idText, toResult(await run(request, workflow, stop.signal)))
      } catch (error) {
        const text = `The tool "${workflow.name}" failed: ${messageOf(error)}`
        return resultText(
          request.idText,
          toRaw(JSON.stringify({ content: [{ type: 'text', text }], isError: true })),
        )
      } finally {
        if (running.get(key) === stop) running.delete(key)
      }
    },
    cancel(notification) {
      const key = idKey(paramText(notification, 'requestId') ?? '')
      running.get(key)?.abort(new Error('it was cancelled'))
    },
  }
}

/** Undefined for a tool that the endpoint itself has given its name. */
function describe(tool: string, offers: Offers): ToolDefinition | undefined {
  const item = offers.get(tool)?.item
  return item === undefined ? undefined : (parseRaw(item) as ToolDefinition)
}

/** The result of a tool (`CallToolResult` of MCP); raw text. */
function toResult(output: unknown): string {
  const text = JSON.stringify(output)
  const structured = isObject(output) ? { structuredContent: output } : {}
  return toRaw(JSON.stringify({ content: [{ type: 'text', text }], ...structured }))
}
