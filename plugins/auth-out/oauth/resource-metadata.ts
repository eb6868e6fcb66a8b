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
    if (settings.resource === undefined && !covers(resource, target)) {
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
function placesOf(challenge: BearerChallenge | undefined, { origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/+$/, '')
  const wellKnown = [...(path ? [`${WELL_KNOWN}${path}`] : []), WELL_KNOWN].map(at => new URL(at, origin))
  const named = URL.parse(challenge?.resourceMetadata ?? '')
  const all = named && !named.username && !named.password ? [named, ...wellKnown] : wellKnown
  return all.filter(({ href }, index) => all.findIndex(other => other.href === href) === index)
}

/** Whether the resource is the target or a folder above it. */
export function covers(resource: string, target: URL): boolean {
  const whole = URL.parse(resource)
  if (whole?.origin !== target.origin || whole.hash || whole.username || whole.password) return false
  return `${target.pathname}/`.startsWith(whole.pathname.replace(/\/*$/, '/'))
}

const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter(item => typeof item === 'string') : undefined
