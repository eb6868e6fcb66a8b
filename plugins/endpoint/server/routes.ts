import { memberValue, splice } from '../../../src/lib/raw-json.ts'
import { param, paramSpan, type Request } from '../../../src/net/rpc-message.ts'
import { rawString } from '../names/edit-raw.ts'
import { fromPublicUri } from '../names/resource-uri.ts'

/** Finds the server of a request, and the request as that server knows it. */
export interface Route {
  readonly server: string
  readonly text: string
}

/** The list in which a name stands, and which parameter has it. */
type Place = { readonly by: 'name'; readonly list: string } | { readonly by: 'uri' }

const TOOL: Place = { by: 'name', list: 'tools/list' }
const PROMPT: Place = { by: 'name', list: 'prompts/list' }
const RESOURCE: Place = { by: 'uri' }

const PLACES: Readonly<Record<string, Place>> = {
  'tools/call': TOOL,
  'prompts/get': PROMPT,
  'resources/read': RESOURCE,
  'resources/subscribe': RESOURCE,
  'resources/unsubscribe': RESOURCE,
}

export const isRouted = (method: string): boolean => method in PLACES || method === 'completion/complete'

/**
 * The route of a request for one server; undefined when no server has what it names.
 *
 * @param find the server of a name in a list
 */
export async function findRoute(
  request: Request,
  find: (list: string, name: string) => Promise<{ server: string; name: string } | undefined>,
): Promise<Route | undefined> {
  const { path, place } = placeOf(request)
  const value = param(request, ...path)
  if (typeof value !== 'string') return undefined
  const owned = place.by === 'name' ? await find(place.list, value) : fromPublicUri(value)
  if (!owned) return undefined
  const own = 'name' in owned ? owned.name : owned.uri
  return {
    server: owned.server,
    text: splice(request.text, [{ span: paramSpan(request, ...path), text: rawString(own) }]),
  }
}

function placeOf(request: Request): { path: string[]; place: Place } {
  const place = PLACES[request.method]
  if (place) return { path: [place.by], place }
  const { text } = request
  const ref = paramSpan(request, 'ref')
  const isPrompt = ref !== undefined && memberValue(text.slice(ref.start, ref.end), 'type') === 'ref/prompt'
  return isPrompt ? { path: ['ref', 'name'], place: PROMPT } : { path: ['ref', 'uri'], place: RESOURCE }
}
