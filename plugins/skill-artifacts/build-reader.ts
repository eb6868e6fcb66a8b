import { isFailure } from '../../src/errors.ts'
import { suggest } from '../../src/lib/suggest.ts'
import type { Descriptor, ImageIndex, ImageManifest } from '../oci/index.ts'
import { SKILL_ARTIFACT } from './artifact-names.ts'
import { failures } from './failures.ts'
import { type Build, wantedTag } from './find-build.ts'
import type { Layout } from './oci-layout.ts'

/** The annotation of an entry that was built on this machine; fetched artifacts do not have it. */
const MARK = 'dev.keelson.skills.local-build'
const TAG = 'org.opencontainers.image.ref.name'

/** Reads the builds in a layout. */
export interface BuildReader {
  /** By tag. */
  list(): Promise<readonly Build[]>
  /** Returns the entry with this tag. Fails with `skill_build_missing`. */
  entryOf(text: string): Promise<Descriptor>
  /** Returns the files of the build whose index has this digest. Fails with `skill_store_broken`. */
  layerOf(digest: string): Promise<Descriptor>
  /** Returns the failure for a tag that none of these entries has. */
  missing(text: string, entries: readonly Descriptor[]): Error
}

/** Returns the tag of an entry; empty when it has none. */
export const tagOf = ({ annotations }: Descriptor): string => annotations?.[TAG] ?? ''

/** Returns the entry of a build: its index, with a tag. */
export const toEntry = (index: Descriptor, tag: string): Descriptor => ({
  ...index,
  artifactType: SKILL_ARTIFACT.type,
  annotations: { [TAG]: tag, [MARK]: 'true' },
})

/** Returns the entries that were built on this machine. */
const marked = (entries: readonly Descriptor[]): Descriptor[] =>
  entries.filter(
    ({ artifactType, annotations }) =>
      artifactType === SKILL_ARTIFACT.type && annotations?.[MARK] === 'true' && annotations[TAG],
  )

export function createBuildReader(layout: Layout): BuildReader {
  /** Lists a damaged build too, so that it can be removed. */
  async function describe(entry: Descriptor): Promise<Build> {
    const index = await readIndex(entry.digest).catch(error => {
      if (isFailure(error, 'skill_store_broken')) return undefined
      throw error
    })
    const { name, description, version } = SKILL_ARTIFACT.annotation
    const said = index?.annotations ?? {}
    return {
      tag: tagOf(entry),
      digest: entry.digest,
      ...(said[name] ? { name: said[name] } : {}),
      ...(said[description] ? { description: said[description] } : {}),
      ...(said[version] ? { version: said[version] } : {}),
    }
  }

  const readIndex = async (digest: string): Promise<ImageIndex> =>
    JSON.parse((await layout.read(digest)).toString('utf8'))

  async function list(): Promise<readonly Build[]> {
    const all = await Promise.all(marked(await layout.entries()).map(describe))
    return all.sort((a, b) => (a.tag < b.tag ? -1 : 1))
  }

  const missing = (text: string, entries: readonly Descriptor[]) =>
    failures.skill_build_missing({ tag: text, near: suggest(text, marked(entries).map(tagOf)) })

  async function entryOf(text: string): Promise<Descriptor> {
    const entries = await layout.entries()
    const tag = wantedTag(text)
    const entry = marked(entries).find(candidate => tagOf(candidate) === tag)
    if (!entry) throw missing(text, entries)
    return entry
  }

  async function layerOf(digest: string): Promise<Descriptor> {
    const [platform] = (await readIndex(digest)).manifests
    const manifest: ImageManifest | undefined =
      platform && JSON.parse((await layout.read(platform.digest)).toString('utf8'))
    const [layer] = manifest?.layers ?? []
    if (!layer)
      throw failures.skill_store_broken({ path: layout.pathOf(digest), problem: 'it has no files.' })
    return layer
  }

  return { list, entryOf, layerOf, missing }
}
