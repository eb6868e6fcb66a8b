import { mergeRaw, splice, toRaw } from '../../src/lib/raw-json.ts'
import { paramSpan, paramText, type Request } from '../../src/net/rpc-message.ts'
import type { Override } from './selection.ts'

/** A call as the server gets it, or why it is refused. */
export type RewrittenCall = { readonly text: string } | { readonly problem: string }

/** The text of a call (raw) with the real name of its tool and the arguments that are fixed; all else stays. */
export function rewriteCall(call: Request, real: string, override: Override | undefined): RewrittenCall {
  const fixed = override?.fixed_arguments ?? {}
  const unseen = [...(override?.hidden_arguments ?? []), ...Object.keys(fixed)]
  const name = { span: paramSpan(call, 'name'), text: toRaw(JSON.stringify(real)) }
  if (unseen.length === 0) return { text: splice(call.text, [name]) }

  const given = paramText(call, 'arguments')
  if (given !== undefined && !given.startsWith('{')) return { problem: 'The arguments are not an object' }
  const sent = unseen.find(argument => paramSpan(call, 'arguments', argument) !== undefined)
  if (sent !== undefined) return { problem: `The tool has no argument ${JSON.stringify(sent)}` }
  if (Object.keys(fixed).length === 0) return { text: splice(call.text, [name]) }

  const all = mergeRaw(given ?? '{}', toRaw(JSON.stringify(fixed)))
  if (given !== undefined) {
    return { text: splice(call.text, [name, { span: paramSpan(call, 'arguments'), text: all }]) }
  }
  return { text: splice(call.text, [{ ...name, text: `${name.text},"arguments":${all}` }]) }
}
