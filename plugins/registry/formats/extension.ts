import { isObject } from '../../../src/lib/is-object.ts'
import type { Extension } from './server-facts.ts'
import type { ServerJson } from './server-json.ts'
import { NAMESPACE } from './server-names.ts'

/** Member of `_meta` for what publishers add (MCP registry, "Publisher-provided metadata"). */
export const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided'

/** ToolHive's extension and the key it stands under. With several keys the first counts, whatever it is. */
export function findExtension(
  server: Pick<ServerJson, '_meta'>,
): { readonly key: string; readonly extension: Extension } | undefined {
  const publisher = server._meta?.[PUBLISHER]
  const own = isObject(publisher) ? publisher[NAMESPACE] : undefined
  const [first] = isObject(own) ? Object.entries(own) : []
  return first && isObject(first[1]) ? { key: first[0], extension: first[1] as Extension } : undefined
}

/** `_meta` that holds the extension under the key. */
export const toMeta = (key: string, extension: Extension): Record<string, unknown> => ({
  [PUBLISHER]: { [NAMESPACE]: { [key]: extension } },
})
