import { arrayElements, memberValue, mergeRaw, omitRaw } from '../../../src/lib/raw-json.ts'
import type { Response } from '../../../src/net/rpc-message.ts'

/** The user has to open a URL before the server takes the request (MCP 2025-11-25, elicitation). */
export const URL_ELICITATION_REQUIRED = -32042

/** What a server wants opened before it takes a request, as `inputRequests`; undefined for other responses. */
export function urlInputs({ text, index, error }: Response): ReadonlyMap<string, string> | undefined {
  if (!error || memberValue(text.slice(error.start, error.end), 'code') !== URL_ELICITATION_REQUIRED) {
    return undefined
  }
  const span = index.find(error, ['data', 'elicitations'])
  const elicitations = (span && arrayElements(text.slice(span.start, span.end))) ?? []
  if (elicitations.length === 0) return undefined
  const inputs = elicitations.map((elicitation, n) => {
    const params = mergeRaw(
      omitRaw(elicitation, name => name === 'elicitationId'),
      '{"mode":"url"}',
    )
    return [`url-${n + 1}`, `{"method":"elicitation/create","params":${params}}`] as const
  })
  return new Map(inputs)
}

/** Whether a person has agreed to open a URL, by the raw result of an elicitation. */
export const isAccepted = (result: string | undefined): boolean =>
  result !== undefined && memberValue(result, 'action') === 'accept'
