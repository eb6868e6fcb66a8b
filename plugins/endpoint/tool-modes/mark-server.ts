import { memberText, mergeRaw, toRaw } from '../../../src/lib/raw-json.ts'

import type { ListKind } from '../names/list-kinds.ts'

const MEMBER = 'keelson/server'

/** A list whose tools name their servers. */
export const marking = (kind: ListKind): ListKind =>
  kind.list === 'tools'
    ? { ...kind, rename: (item, offer) => markServer(kind.rename(item, offer), offer.server) }
    : kind

/** A tool (raw text) whose `_meta` names its server, so that a search can tell what a caller sees of which server. */
function markServer(item: string, server: string): string {
  const meta = memberText(item, '_meta')
  const isObject = meta?.startsWith('{') ?? false
  const marked = mergeRaw(isObject && meta ? meta : '{}', toRaw(JSON.stringify({ [MEMBER]: server })))
  return mergeRaw(item, `{"_meta":${marked}}`)
}

/** The server that `markServer` has named. */
export function markedServer(meta: Readonly<Record<string, unknown>>): string | undefined {
  const server = meta[MEMBER]
  return typeof server === 'string' ? server : undefined
}
