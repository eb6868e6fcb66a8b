import { isObject } from '../../src/lib/is-object.ts'
import type { JsonRpcMessage, RequestId } from '../../src/net/json-rpc.ts'

/** What the message of a request asks for. */
export interface CallFacts {
  /** JSON-RPC method. */
  readonly method: string
  /** Undefined for a notification. */
  readonly id: RequestId | undefined
  readonly tool: string | undefined
  readonly prompt: string | undefined
  readonly uri: string | undefined
  /** The tool, the prompt, the resource or what else the method is about; empty: nothing. */
  readonly resource: string
  readonly args: Readonly<Record<string, unknown>> | undefined
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Undefined for a response of the client, and for what is not a message. */
export function factsOf(message: JsonRpcMessage | undefined): CallFacts | undefined {
  if (!message || !('method' in message)) return undefined
  const { method } = message
  const params: Readonly<Record<string, unknown>> = isObject(message.params) ? message.params : {}
  const name = textOf(params.name)
  const uri =
    method.startsWith('resources/') || method.startsWith('notifications/resources/')
      ? textOf(params.uri)
      : undefined
  const tool = method === 'tools/call' ? name : undefined
  const prompt = method === 'prompts/get' ? name : undefined
  return {
    method,
    id: 'id' in message ? message.id : undefined,
    tool,
    prompt,
    uri,
    resource: tool ?? prompt ?? uri ?? '',
    args: isObject(params.arguments) ? params.arguments : undefined,
  }
}

/** The name of the span; of a resource without its URI, of which there are too many. */
export const spanNameOf = ({ method, tool, prompt }: CallFacts): string => {
  const target = tool ?? prompt
  return target ? `${method} ${target}` : method
}
