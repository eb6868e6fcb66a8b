import { randomUUID } from 'node:crypto'
import {
  memberText,
  memberValue,
  mergeRaw,
  parseRaw,
  topLevelMembers,
  toRaw,
} from '../../../src/lib/raw-json.ts'
import { type Request, type Response, readMessage } from '../../../src/net/rpc-message.ts'

/** What a server of 2026-07-28 wants before it goes on with a request (multi round-trip requests). */
export interface InputRequired {
  /** By the server's key, as it was written. */
  readonly inputs: ReadonlyMap<string, Request>
  /** Raw text; undefined when the server sent none. */
  readonly stateText: string | undefined
}

/** The only requests that a server may put into a result. */
const INPUTS: ReadonlySet<unknown> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list'])

/** Whether the response asks for input. */
export function isInputRequired({ text, index, result }: Response): boolean {
  const span = index.find(result, ['resultType'])
  return span !== undefined && parseRaw(text.slice(span.start, span.end)) === 'input_required'
}

/**
 * Reads what is asked for, as requests for an older client.
 *
 * @param options.most how many requests there may be
 * @param options.nextId returns the raw id of a request
 * @returns a text that says what is wrong when the result is not one that a server may send
 */
export function readInputRequired(
  { text, result }: Response,
  { most, nextId }: { most: number; nextId: () => string },
): InputRequired | string {
  const resultText = result ? text.slice(result.start, result.end) : '{}'
  const stateText = memberText(resultText, 'requestState')
  const requestsText = memberText(resultText, 'inputRequests')
  const members = requestsText === undefined ? undefined : topLevelMembers(requestsText)
  if (requestsText !== undefined && !members) return 'its input requests are not an object'
  if (stateText === undefined && !members?.at.size) return 'it names no input'
  if (stateText !== undefined && !stateText.startsWith('"')) return 'its request state is not a text'
  if (members && members.at.size > most) return `it asks for more than ${most} inputs at once`
  const inputs = new Map<string, Request>()
  for (const [, { key, start, end }] of members?.at ?? []) {
    const input = toRequest(requestsText?.slice(start, end) ?? '', nextId())
    if (!input) return 'it asks for what no client can be asked for'
    inputs.set(key, input)
  }
  return { inputs, stateText }
}

function toRequest(inputText: string, idText: string): Request | undefined {
  const method = memberValue(inputText, 'method')
  if (!INPUTS.has(method)) return undefined
  const given = memberText(inputText, 'params')
  if (given !== undefined && !given.startsWith('{')) return undefined
  const params = method === 'elicitation/create' ? withElicitationId(given ?? '{}') : given
  const message = readMessage(
    `{"jsonrpc":"2.0","id":${idText},"method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`,
  )
  return message?.kind === 'request' ? message : undefined
}

/** Clients of 2025-11-25 require an id for a URL; 2026-07-28 has none. */
const withElicitationId = (params: string): string =>
  memberValue(params, 'mode') === 'url'
    ? mergeRaw(`{"elicitationId":${toRaw(JSON.stringify(randomUUID()))}}`, params)
    : params

/** The parameters that a retry adds to those of the request: the inputs by their keys, and the state as it came. */
export function retryParams(answers: ReadonlyMap<string, string>, stateText: string | undefined): string {
  const responses = [...answers].map(([key, text]) => `${key}:${text}`)
  return `{${[
    ...(responses.length === 0 ? [] : [`"inputResponses":{${responses.join(',')}}`]),
    ...(stateText === undefined ? [] : [`"requestState":${stateText}`]),
  ].join(',')}}`
}
