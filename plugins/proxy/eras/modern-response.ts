import { TooManyNames } from '../../../src/lib/parse-json.ts'
import { memberValue, mergeRaw, type RawObject, splice } from '../../../src/lib/raw-json.ts'
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  MISSING_CAPABILITY,
  SERVER_ERROR,
} from '../../../src/net/rpc-error-codes.ts'
import { errorText, type Response, readMessage, withId } from '../../../src/net/rpc-message.ts'
import { SERVER_INFO } from './modern-meta.ts'
import type { MethodRule } from './modern-methods.ts'
import { URL_ELICITATION_REQUIRED } from './url-inputs.ts'

/** The server has no such resource (MCP 2025-11-25 and older). */
const RESOURCE_NOT_FOUND = -32002

/** The client cannot send its user to a URL (MCP 2026-07-28, missing required client capability). */
const NEEDS_URLS = JSON.stringify({
  code: MISSING_CAPABILITY,
  data: { requiredCapabilities: { elicitation: { url: {} } } },
})

/** A server of the era of sessions says nothing of caching: the result is stale at once, and for its client alone. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' }

/**
 * The response of a server of the era of sessions as a client of MCP 2026-07-28 takes it. An error, if the result would
 * have more escaped names than are read.
 *
 * @param options.infoText who the server is, raw
 */
export function toModernResponse(
  response: Response,
  { idText, rule, infoText }: { idText: string; rule: MethodRule; infoText: string | undefined },
): string {
  const { text, index, result, error } = response
  const span = result ?? error
  if (!span) return withId(response, idText)
  const object = index.objectAt(span)
  if (!object) return withId(response, idText)
  try {
    const changed = result ? toModernResult(object, { rule, infoText }) : toModernError(object.text)
    return splice(text, [
      { span, text: changed },
      { span: response.id, text: idText },
    ])
  } catch (error) {
    if (!(error instanceof TooManyNames)) throw error
    return errorText(idText, SERVER_ERROR, `The response of the server was withheld: ${error.message}`)
  }
}

/** A result with what the revision requires of all results. What the server says of it, which it cannot mean, goes. */
export function toModernResult(
  result: RawObject,
  { rule, infoText }: { rule: Pick<MethodRule, 'cacheable'>; infoText: string | undefined },
): string {
  const added = JSON.stringify({ resultType: 'complete', ...(rule.cacheable ? UNCACHED : {}) })
  if (infoText === undefined) return mergeRaw(result, added)
  const place = result.at.get('_meta')
  const meta = place && result.text.slice(place.start, place.end)
  const signed = mergeRaw(meta?.startsWith('{') ? meta : '{}', `{"${SERVER_INFO}":${infoText}}`)
  return mergeRaw(result, `${added.slice(0, -1)},"_meta":${signed}}`)
}

/** An error with a code of the revision (MCP 2026-07-28, basic: error codes). */
export function toModernError(error: string): string {
  const code = memberValue(error, 'code')
  if (typeof code !== 'number') return error
  if (code === RESOURCE_NOT_FOUND) return mergeRaw(error, JSON.stringify({ code: INVALID_PARAMS }))
  if (code === URL_ELICITATION_REQUIRED) return mergeRaw(error, NEEDS_URLS)
  // Only the specification gives these codes a meaning, and a client would act on it.
  const isReserved = code <= -32020 && code >= -32099
  return isReserved ? mergeRaw(error, JSON.stringify({ code: INTERNAL_ERROR })) : error
}

/** A response of the bridge, which is one message. */
export const readResponse = (text: string): Response => readMessage(text) as Response
