import type { ResolveContext } from '../../src/contracts/target.ts'
import { failures as core } from '../../src/errors.ts'
import { clean } from '../../src/lib/printable.ts'
import { isRemote, type ServerView } from './formats/legacy.ts'

/**
 * The source that the user runs in place of the entry's; undefined if it is the entry's own. Fails with `usage` if only one
 * of the two is a remote server.
 */
export function ownSourceOf(
  name: string,
  view: ServerView,
  { ownSource }: Pick<ResolveContext, 'ownSource'>,
): string | undefined {
  if (ownSource === undefined || ownSource === (isRemote(view) ? view.url : view.image)) return undefined
  if (isRemote(view) === /^https?:/i.test(ownSource)) return ownSource
  throw core.usage({
    text: isRemote(view)
      ? `"${clean(name)}" of the registry is a remote server: give a url beside it, or nothing.`
      : `"${clean(name)}" of the registry runs on this machine: give an image beside it, or nothing.`,
  })
}

/**
 * The entry with another source. Its provenance, headers and login apply to its own source only, and are left out.
 */
export function withSource<V extends ServerView>(view: V, source: string | undefined): V {
  if (source === undefined) return view
  return isRemote(view)
    ? { ...view, url: source, headers: undefined, oauth_config: undefined }
    : { ...view, image: source, provenance: undefined }
}
