import { failures } from '../failures.ts'
import { toScopes } from './challenge.ts'
import { getDocument, type NoDocument } from './get-document.ts'
import { isWrittenPrivate, toSafeUrl } from './safe-url.ts'
import type { BearerChallenge, LoginSettings, Reach } from './types.ts'

/** What a protected resource says of itself (RFC 9728 section 2). */
export interface ResourceMetadata {
  readonly resource: string
  readonly issuers: readonly string[]
  /** Undefined when it does not say. */
  readonly scopes: readonly string[] | undefined
  readonly isPrivate: boolean
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const MOST_ISSUERS = 5

/**
 * Finds the metadata of the target: where its challenge says, else at the well-known places. Returns what was wrong
 * with each place when it is nowhere. Fails with `remote_resource_mismatch` for metadata of another resource
 * (section 3.3), unless the user named the resource.
 */
export async function findResourceMetadata(
  challenge: BearerChallenge | undefined,
  settings: LoginSettings,
  reach: Reach,
): Promise<ResourceMetadata | readonly NoDocument[]> {
  const target = new URL(reach.target)
  const problems: NoDocument[] = []
  for (const place of placesOf(challenge, target)) {
    const isNamed = place.origin === target.origin && !reach.mustBePublic
    if (!isNamed && !toSafeUrl(place.href)) {
      problems.push({ url: place.href, problem: 'it is not https', kind: 'refused' })
      continue
    }
    const mayBePrivate = !reach.mustBePublic && (challenge?.isPrivate ?? isWrittenPrivate(target))
    const found = await getDocument(place.href, { mayBePrivate, isNamed }, reach)
    if ('problem' in found) {
      problems.push(found)
      continue
    }
    const { resource, authorization_servers: issuers, scopes_supported: scopes } = found.value
    if (typeof resource !== 'string') {
      problems.push({ url: place.href, problem: 'it names no resource', kind: 'refused' })
      continue
    }
    if (settings.resource === undefined && !isAbout(resource, target, place)) {
      throw failures.remote_resource_mismatch({ target: target.href, resource: resource.slice(0, 200) })
    }
    return {
      resource,
      issuers: texts(issuers)?.slice(0, MOST_ISSUERS) ?? [],
      scopes: texts(scopes)?.flatMap(toScopes),
      isPrivate: found.isPrivate,
    }
  }
  return problems
}

/** Section 3.1: with the path of the target, then without; before both what the challenge names (section 5.1). */
function placesOf(challenge: BearerChallenge | undefined, target: URL): URL[] {
  const path = withoutSlash(target)
  const wellKnown = [...(path ? [`${WELL_KNOWN}${path}`] : []), WELL_KNOWN].map(
    at => new URL(at, target.origin),
  )
  const named = URL.parse(challenge?.resourceMetadata ?? '')
  const all = named && !named.username && !named.password ? [named, ...wellKnown] : wellKnown
  return all.filter(({ href }, index) => all.findIndex(other => other.href === href) === index)
}

/**
 * Whether the resource is the target itself or the target's origin. Another folder above the target is neither: on a
 * host that customers share, its token would open what belongs to others.
 */
export function relationOf(resource: string, target: URL): 'target' | 'origin' | undefined {
  const said = URL.parse(resource)
  if (said?.origin !== target.origin || said.hash || said.username || said.password) return undefined
  if (said.search && said.search !== target.search) return undefined
  if (withoutSlash(said) === withoutSlash(target)) return 'target'
  return withoutSlash(said) === '' ? 'origin' : undefined
}

/**
 * Whether metadata at `place` is about the target: its resource is the target (section 3.3), or the target's origin
 * where the well-known place of the origin says so, which the MCP specification falls back to.
 */
function isAbout(resource: string, target: URL, place: URL): boolean {
  const relation = relationOf(resource, target)
  return relation === 'target' || (relation === 'origin' && place.href === `${target.origin}${WELL_KNOWN}`)
}

const withoutSlash = ({ pathname }: URL): string => pathname.replace(/\/+$/, '')

const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter(item => typeof item === 'string') : undefined
