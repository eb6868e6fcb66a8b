import { isDeepStrictEqual } from 'node:util'
import type { ServerView } from './legacy.ts'
import type { ServerJson } from './server-json.ts'
import { toOwnName } from './server-names.ts'
import { toServerJson as convert } from './to-server-json.ts'
import { toView } from './to-view.ts'

/** Where the older format keeps a server.json that its own members cannot express. */
export const WHOLE = 'io.modelcontextprotocol.registry/server-json'

/** A server in the older format, under its name; nothing of the document is lost. */
export function toLegacy(server: ServerJson): { readonly name: string; readonly entry: ServerView } {
  const { name: _, ...entry } = toView(server)
  const name = toOwnName(server.name)
  if (isDeepStrictEqual(convert(name, entry as ServerView), server))
    return { name, entry: entry as ServerView }
  return { name, entry: withWhole(entry as ServerView, server) }
}

/**
 * A server of the older format as server.json. Where `toLegacy` has left the whole document, that is
 * taken, with the members that were edited since.
 */
export function fromLegacy(name: string, entry: ServerView): ServerJson {
  const whole = entry.custom_metadata?.[WHOLE] as ServerJson | undefined
  if (whole === undefined) return convert(name, entry)
  const { name: _, ...before } = toView(whole)
  const was = convert(toOwnName(whole.name), withoutWhole(withWhole(before as ServerView, whole)))
  const is = convert(name, withoutWhole(entry))
  const edited = [...new Set([...Object.keys(is), ...Object.keys(was)])].filter(
    key => !isDeepStrictEqual(Reflect.get(is, key), Reflect.get(was, key)),
  )
  const merged = { ...whole, ...Object.fromEntries(edited.map(key => [key, Reflect.get(is, key)])) }
  return Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== undefined),
  ) as unknown as ServerJson
}

const withWhole = (entry: ServerView, whole: ServerJson): ServerView => ({
  ...entry,
  custom_metadata: { ...entry.custom_metadata, [WHOLE]: whole },
})

function withoutWhole(entry: ServerView): ServerView {
  const { custom_metadata, ...rest } = entry
  const { [WHOLE]: _, ...kept } = custom_metadata ?? {}
  return (Object.keys(kept).length ? { ...rest, custom_metadata: kept } : rest) as ServerView
}
