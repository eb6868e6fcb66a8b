import { lookup } from 'node:dns/promises'
import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { clean } from '../../src/lib/printable.ts'
import { whyNotPublic } from '../egress/index.ts'
import { failures } from './failures.ts'
import type { SourceKind } from './sources/source.ts'

/** Where a registry is read from, and whether its user lets it be in a private network. */
export interface RegistryPlace {
  readonly kind: SourceKind
  readonly place: string
  readonly allowsPrivate: boolean
}

/**
 * Whether strangers publish in a registry: then its entries may not name private places. A file of the
 * user's own, and a registry in the user's own network, may.
 */
export async function isPublicRegistry({ kind, place, allowsPrivate }: RegistryPlace): Promise<boolean> {
  if (kind === 'file') return false
  const host = URL.parse(place)?.hostname
  return !allowsPrivate || host === undefined || (await whyNotPublicNow(host)) === undefined
}

/** As `whyNotPublic`, with what the name resolves to now. A name that resolves to nothing is not private. */
async function whyNotPublicNow(host: string): Promise<string | undefined> {
  const problem = whyNotPublic(host)
  if (problem) return problem
  const found = await lookup(host, { all: true }).catch(() => [])
  const [bad] = found.flatMap(({ address }) => whyNotPublic(address) ?? [])
  return bad && `it resolves to a place that is not public: ${bad}`
}

/**
 * Refuses an image or package that is not fetched from a public place. Only what the reference says is
 * judged: an engine may have name servers and mirrors of its own.
 */
export async function assertPublicImage(name: string, image: string, from: RegistryPlace): Promise<void> {
  if (!(await isPublicRegistry(from))) return
  const isFolder = /^go:\/\/(?:\/|\.{1,2}(?:\/|$))/.test(image)
  const host = hostOf(image)
  const problem = isFolder ? 'it names a folder of this machine' : host && whyNotPublic(host)
  if (problem) throw refused(name, image, problem)
}

/** Refuses the URL of a remote server that leads to a place which is not public. */
export async function assertPublicRemote(name: string, url: string, from: RegistryPlace): Promise<void> {
  if (!(await isPublicRegistry(from))) return
  const host = URL.parse(url)?.hostname // what is no URL is refused by the target
  const problem = host && (await whyNotPublicNow(host))
  if (problem) throw refused(name, url, problem)
}

const refused = (name: string, place: string, problem: string) =>
  failures.entry_refused({
    server: clean(name),
    problems: [`${clean(place)}: ${problem}, and this registry is public`],
  })

/** The host that the reference itself names. */
function hostOf(image: string): string | undefined {
  const [, module] = /^go:\/\/([^/@]+)/.exec(image) ?? []
  return module ?? parseOciReference(image)?.registry?.replace(/:\d+$/, '')
}
