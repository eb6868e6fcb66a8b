import { lookup } from 'node:dns/promises'
import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { clean } from '../../src/lib/printable.ts'
import { publicHostProblem } from '../egress/index.ts'
import { failures } from './failures.ts'
import type { SourceKind } from './sources/registry-source.ts'

/** Where a registry is read from, and whether the user allows it in a private network. */
export interface RegistryPlace {
  readonly kind: SourceKind
  readonly place: string
  readonly allowsPrivate: boolean
}

/**
 * Whether strangers may publish in a registry. Its entries may then name public addresses only. A local file, or
 * a registry in a private network, may name private ones.
 */
export async function isPublicRegistry({ kind, place, allowsPrivate }: RegistryPlace): Promise<boolean> {
  if (kind === 'file') return false
  const host = URL.parse(place)?.hostname
  return !allowsPrivate || host === undefined || (await resolvedHostProblem(host)) === undefined
}

/** Like `publicHostProblem`, but also checks what the name resolves to now. A name without addresses is not private. */
async function resolvedHostProblem(host: string): Promise<string | undefined> {
  const problem = publicHostProblem(host)
  if (problem) return problem
  const found = await lookup(host, { all: true }).catch(() => [])
  const [bad] = found.flatMap(({ address }) => publicHostProblem(address) ?? [])
  return bad && `it resolves to an address that is not public: ${bad}`
}

/**
 * Refuses an image or package whose reference does not name a public host. Nothing is resolved: an engine may use
 * name servers and mirrors of its own.
 */
export async function assertPublicImage(name: string, image: string, from: RegistryPlace): Promise<void> {
  if (!(await isPublicRegistry(from))) return
  const isFolder = /^go:\/\/(?:\/|\.{1,2}(?:\/|$))/.test(image)
  const host = hostOf(image)
  const problem = isFolder ? 'it names a folder of this machine' : host && publicHostProblem(host)
  if (problem) throw refused(name, image, problem)
}

/** Refuses the URL of a remote server whose host is not public. */
export async function assertPublicRemote(name: string, url: string, from: RegistryPlace): Promise<void> {
  if (!(await isPublicRegistry(from))) return
  const host = URL.parse(url)?.hostname // the target refuses what is not a URL
  const problem = host && (await resolvedHostProblem(host))
  if (problem) throw refused(name, url, problem)
}

const refused = (name: string, place: string, problem: string) =>
  failures.entry_refused({
    server: clean(name),
    problems: [`${clean(place)}: ${problem}; entries of a public registry may name public addresses only`],
  })

/** The host that the reference itself names. */
function hostOf(image: string): string | undefined {
  const [, module] = /^go:\/\/([^/@]+)/.exec(image) ?? []
  return module ?? parseOciReference(image)?.registry?.replace(/:\d+$/, '')
}
