import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isMissing } from '../../src/lib/atomic-file.ts'
import type { Oci } from '../oci/index.ts'
import { artifactDocuments } from './artifact-documents.ts'
import { createBuildReader, tagOf, toEntry } from './build-reader.ts'
import { repositoryName, toBuildTag } from './build-tag.ts'
import { failures } from './failures.ts'
import { type Build, findBuild, wantedTag } from './find-build.ts'
import { extractSkill } from './format/extract-skill.ts'
import { createLayout } from './oci-layout.ts'
import { packSkill } from './pack-skill.ts'
import { type PushOptions, pushArtifact } from './push-artifact.ts'
import { loadSigner, type Signing } from './sign/signing.ts'

/** Makes, stores and pushes builds of skills. */
export interface Builds {
  /**
   * Packs the skill in a folder and stores it under the given tag, else under its name. An earlier build
   * with the tag is replaced. The same files give the same digest on every machine.
   */
  build(
    path: string,
    tag?: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly reference: string; readonly digest: string; readonly warnings: readonly string[] }>
  /** Returns the builds, sorted by tag. */
  list(): Promise<readonly Build[]>
  /** Removes a tag and the blobs that no other build needs. Fails with `skill_build_missing`. */
  remove(tag: string): Promise<void>
  /**
   * Returns the build with this tag, or the one of the skill with this name (and with this version, or a tag
   * equal to it). Fails with `skill_build_other` when a plain name is the tag of another skill, and with
   * `skill_build_ambiguous` when several builds match and none has the name as its tag.
   */
  find(tagOrName: string, version?: string): Promise<Build | undefined>
  /** Returns the build with exactly this tag. */
  findTag(text: string): Promise<Build | undefined>
  /** Unpacks a build into a folder that does not exist yet, or is empty. */
  extractTo(tag: string, folder: string): Promise<void>
  /** Signs a build and uploads it to the registry that its tag names. */
  push(reference: string, signing: Signing, options?: PushOptions): Promise<{ readonly digest: string }>
}

export function createBuilds({
  folder,
  oci,
  env,
}: {
  /** The folder of the builds. */
  folder: string
  /** Called only by a push. */
  oci: () => Promise<Oci>
  env: Readonly<Record<string, string | undefined>>
}): Builds {
  const layout = createLayout(folder)
  const { list, entryOf, layerOf, missing } = createBuildReader(layout)

  return {
    list,

    async build(path, wanted, { signal } = {}) {
      const source = resolve(path)
      const epoch = epochOf(env.SOURCE_DATE_EPOCH)
      const given = wanted === undefined || wanted === '' ? undefined : toBuildTag(wanted)
      return layout.change(async (entries, add) => {
        let manifest: Awaited<ReturnType<typeof packSkill>>['manifest'] | undefined
        const layer = await add.file(async target => {
          const packed = await packSkill(source, target, { epoch, signal })
          manifest = packed.manifest
          return packed.layer
        })
        if (!manifest) throw new Error('packing returned no manifest')
        const { parts, index } = artifactDocuments(manifest, layer, { epoch, digestOf })
        for (const { bytes } of [...parts, index]) await add.bytes(bytes)
        const tag = given ?? manifest.name
        const entry = toEntry(index.descriptor, tag)
        const { digest } = index.descriptor
        return {
          entries: [...entries.filter(other => tagOf(other) !== tag), entry],
          result: { reference: tag, digest, warnings: warningsOf(tag, manifest.name) },
        }
      })
    },

    async remove(text) {
      await layout.change(async entries => {
        const tag = wantedTag(text)
        const left = entries.filter(entry => tagOf(entry) !== tag)
        if (left.length === entries.length) throw missing(text, entries)
        return { entries: left, result: undefined }
      })
    },

    findTag: async text => (await list()).find(({ tag }) => tag === wantedTag(text)),

    find: async (tagOrName, version) => findBuild(await list(), tagOrName, version),

    async extractTo(tag, target) {
      const entry = await entryOf(tag)
      const { digest } = await layerOf(entry.digest)
      try {
        await assertBlob(layout.pathOf(digest), digest)
        await extractSkill(layout.pathOf(digest), target)
      } catch (error) {
        if (!isMissing(error)) throw error
        throw failures.skill_store_broken({ path: layout.pathOf(digest), problem: 'it does not exist.' })
      }
    },

    async push(reference, signing, options = {}) {
      const signer = await loadSigner(signing, env)
      const entry = await entryOf(reference)
      const tag = tagOf(entry)
      if (!/[/:@]/.test(tag)) throw failures.skill_push_nowhere({ tag })
      await pushArtifact(
        { oci: await oci(), reference: tag, digest: entry.digest, read: layout.read },
        signer,
        options,
      )
      return { digest: entry.digest }
    },
  }
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/**
 * Returns the time that an artifact has in place of all others, in seconds since 1970; 0 without a valid
 * number (`SOURCE_DATE_EPOCH`, reproducible-builds.org).
 */
function epochOf(text: string | undefined): number {
  const epoch = Number(text)
  return /^\d{1,10}$/.test(text ?? '') && epoch < 2 ** 32 ? epoch : 0
}

/** A skill that is installed by a reference must have the name of the repository. */
function warningsOf(tag: string, name: string): string[] {
  const last = repositoryName(tag)
  if (last === undefined || last === name) return []
  return [
    `The skill is called "${name}", but the repository "${last}": installing it by this reference will be ` +
      `refused. Give it a tag that ends in /${name}:VERSION.`,
  ]
}

async function assertBlob(path: string, digest: string): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  if (`sha256:${hash.digest('hex')}` !== digest) {
    throw failures.skill_store_broken({ path, problem: 'its content is not the one that was built.' })
  }
}
