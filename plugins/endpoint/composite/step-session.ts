import { isObject } from '../../../src/lib/is-object.ts'
import { memberText, mergeRaw, parseRaw, toRaw } from '../../../src/lib/raw-json.ts'
import { paramText, type Request, type Response } from '../../../src/net/rpc-message.ts'
import type { MemberSession } from '../server/member-session.ts'
import type { ToolDefinition } from './actions.ts'
import type { ToolResult } from './tool-result.ts'

/**
 * Whether a session, whose parameters of `initialize` these are, is one in which the steps of a composite tool are
 * called: it has no composite tools, so that none calls itself. Any client may ask for that.
 */
export const isForSteps = (initialize: Request): boolean => paramText(initialize, '_meta', MARK) === 'true'

/** The parameters of `initialize` (raw text) of a session for steps. */
export function forSteps(initialize: string): string {
  const meta = memberText(initialize, '_meta') ?? '{}'
  return mergeRaw(initialize, `{"_meta":${mergeRaw(meta, `{"${MARK}":true}`)}}`)
}

const MARK = 'keelson/steps'

/** Calls tools in the session that a client has, for steps, at its own endpoint. */
export interface StepSession {
  call(tool: string, args: unknown, signal: AbortSignal): Promise<ToolResult>
  describe(tool: string): Promise<ToolDefinition | undefined>
}

export function createStepSession(session: Pick<MemberSession, 'ask' | 'cancel' | 'list'>): StepSession {
  let count = 0
  return {
    async call(tool, args, signal) {
      count += 1
      const idText = `"keelson-step-${count}"`
      const params = toRaw(JSON.stringify({ name: tool, arguments: args }))
      const aborted = Promise.withResolvers<never>()
      function cancel(): void {
        session.cancel(idText, 'the workflow does not wait for it any more')
        aborted.reject(signal.reason)
      }
      signal.addEventListener('abort', cancel, { once: true })
      try {
        const text = `{"jsonrpc":"2.0","id":${idText},"method":"tools/call","params":${params}}`
        return resultOf(await Promise.race([session.ask(text, idText), aborted.promise]))
      } finally {
        signal.removeEventListener('abort', cancel)
      }
    },
    async describe(tool) {
      const items = await session.list('tools/list')
      const name = toRaw(JSON.stringify(tool))
      const found = items.find(item => memberText(item, 'name') === name)
      return found === undefined ? undefined : (parseRaw(found) as ToolDefinition)
    },
  }
}

/** Fails with the error of the response. */
function resultOf({ text, result, error }: Response): ToolResult {
  const span = result ?? error
  const value = span && parseRaw(text.slice(span.start, span.end))
  if (!isObject(value)) return {}
  if (error) throw new Error(String(value.message))
  return value
}
