import { referrersTag } from './digest.ts'
import { failures } from './failures.ts'
import type { Location } from './location.ts'
import { type Descriptor, parseManifest } from './manifest.ts'
import { MEDIA_TYPES } from './media-types.ts'
import type { Session } from './oci-session.ts'
import { assertOk, fetchManifest } from './pull.ts'
import { discard, readBody } from './transport.ts'

const MAX_PAGES = 20
const MAX_PAGE = 4 * 1024 * 1024

/** What refers to a digest: from the referrers API, or from the tag that stands in for it. */
export async function fetchReferrers(
  session: Session,
  location: Location,
  digest: string,
  options: { artifactType?: string | undefined; signal?: AbortSignal | undefined },
): Promise<Descriptor[]> {
  const { artifactType, signal } = options
  const all =
    (await fromApi(session, location, digest, options)) ??
    (await listFallback(session, location, digest, signal))
  // A registry may or may not have filtered; what it sends twice counts once.
  const wanted = all.filter(item => artifactType === undefined || item.artifactType === artifactType)
  return [...new Map(wanted.map(item => [item.digest, item])).values()]
}

/** The members of the fallback tag's index; none when there is no such tag. */
export async function listFallback(
  session: Session,
  location: Location,
  digest: string,
  signal?: AbortSignal,
): Promise<Descriptor[]> {
  const tag = referrersTag(digest)
  const found = await fetchManifest(session, { ...location, tag, digest: undefined }, signal)
  if (found && found.kind !== 'index') {
    throw failures.oci_broken({ ...location, problem: `its tag ${tag} is not a list of referrers` })
  }
  return found?.content.manifests ?? []
}

/** Undefined when the registry has no referrers API: 404, or (some do) a page of another kind. */
async function fromApi(
  session: Session,
  location: Location,
  digest: string,
  { artifactType, signal }: { artifactType?: string | undefined; signal?: AbortSignal | undefined },
): Promise<Descriptor[] | undefined> {
  const first = new URL(`${location.origin}/v2/${location.repository}/referrers/${digest}`)
  if (artifactType) first.searchParams.set('artifactType', artifactType)
  const found: Descriptor[] = []
  let url: URL | undefined = first
  for (let page = 0; url; page++) {
    if (page >= MAX_PAGES) {
      throw failures.oci_broken({ ...location, problem: `more than ${MAX_PAGES} pages of referrers` })
    }
    const answer = await session(location, {
      method: 'GET',
      url: url.href,
      headers: { accept: MEDIA_TYPES.index },
      actions: 'pull',
      signal,
    })
    const type = answer.header('content-type')?.split(';')[0]?.trim()
    const isNone = [400, 404, 405, 501].includes(answer.status)
    if (page === 0 && (isNone || (answer.status === 200 && type !== MEDIA_TYPES.index))) {
      discard(answer.body)
      return undefined
    }
    assertOk(location, answer, 200)
    const document = parseManifest(await readBody(location, answer, MAX_PAGE), type ?? '')
    if (typeof document === 'string' || document.kind !== 'index') {
      const problem = typeof document === 'string' ? document : 'it is not a list of referrers'
      throw failures.oci_broken({ ...location, problem })
    }
    found.push(...document.content.manifests)
    url = nextPage(answer.header('link'), url)
  }
  return found
}

/** The next page (RFC 8288), on the same registry only. */
function nextPage(link: string | undefined, base: URL): URL | undefined {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(link ?? '')?.[1]
  const url = target === undefined ? undefined : (URL.parse(target, base.href) ?? undefined)
  return url?.origin === base.origin ? url : undefined
}
