import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { parsePackageReference } from '../../src/lib/package-reference.ts'
import { compareVersions, parseVersion } from './compare-versions.ts'

/** `newer`: the candidate is newer. `unknown`: the texts do not show it, with the reason. */
export type Comparison =
  | { readonly kind: 'newer' | 'not-newer' }
  | { readonly kind: 'unknown'; readonly reason: string }

const unknown = (reason: string): Comparison => ({ kind: 'unknown', reason })

/** Compares the reference of a workload with that of the registry as texts; nothing is fetched. */
export function compareReferences(current: string, candidate: string): Comparison {
  const [now, next] = [toTagged(current), toTagged(candidate)]
  if (!now) return unknown('the current reference has a digest or cannot be read as a tag')
  if (!next) return unknown('the candidate reference has a digest or cannot be read as a tag')
  if (now.repository !== next.repository) {
    return unknown(`the registry names another repository: ${next.repository}, not ${now.repository}`)
  }
  if (now.tag === 'latest') return unknown('the current tag is latest, which says nothing about its version')
  if (next.tag === 'latest') {
    return unknown('the candidate tag is latest, which says nothing about its version')
  }
  const [from, to] = [parseVersion(now.tag), parseVersion(next.tag)]
  if (from && to) return { kind: compareVersions(to, from) > 0 ? 'newer' : 'not-newer' }
  if (now.tag === next.tag) return { kind: 'not-newer' }
  return unknown('the tags differ and are not both versions')
}

interface Tagged {
  /** In full, so that two spellings of one repository are equal. */
  readonly repository: string
  readonly tag: string
}

const PACKAGE = /^(npx|uvx|go):\/\/(.+)$/s
const DOCKER_HUB = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io'])

function toTagged(text: string): Tagged | undefined {
  const [, scheme, rest = ''] = PACKAGE.exec(text) ?? []
  if (scheme === 'npx' || scheme === 'uvx' || scheme === 'go') {
    const reference = parsePackageReference(scheme, rest)
    if (!reference) return undefined
    const name = scheme === 'uvx' ? reference.name.toLowerCase().replace(/[-_.]+/g, '-') : reference.name
    return { repository: `${scheme}://${name}`, tag: reference.wanted ?? 'latest' }
  }
  const reference = parseOciReference(text)
  if (!reference || reference.digest !== undefined) return undefined
  const { registry = 'docker.io', repository, tag = 'latest' } = reference
  const host = DOCKER_HUB.has(registry.toLowerCase()) ? 'docker.io' : registry.toLowerCase()
  const path = host === 'docker.io' && !repository.includes('/') ? `library/${repository}` : repository
  return { repository: `${host}/${path}`, tag }
}
