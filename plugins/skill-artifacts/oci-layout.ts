import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'typanion'
import { isFailure } from '../../src/errors.ts'
import { isMissing, readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { type Descriptor, MEDIA_TYPES } from '../oci/index.ts'
import { failures } from './failures.ts'

/** Blobs on disk and the index that lists them (OCI image specification, "Image Layout"). */
export interface Layout {
  /** Returns the entries of the index. */
  entries(): Promise<readonly Descriptor[]>
  /** Returns a blob. Fails with `skill_store_broken` when it is missing or its digest is wrong. */
  read(digest: string): Promise<Buffer>
  /** Returns the path of a blob. */
  pathOf(digest: string): string
  /**
   * Replaces the index by the one that `work` returns; one caller at a time. Blobs that no entry of the new
   * index leads to are removed, added ones too. A kill at any moment leaves the old index or the new one,
   * and at worst blobs that the next change removes.
   */
  change<T>(
    work: (
      entries: readonly Descriptor[],
      add: AddBlob,
    ) => Promise<{ entries: readonly Descriptor[]; result: T }>,
  ): Promise<T>
}

export interface AddBlob {
  bytes(content: Buffer): Promise<void>
  /** Adds a blob whose digest is known only after it is written. */
  file<T extends { digest: string }>(write: (target: FileHandle) => Promise<T>): Promise<T>
}

const MAX_BLOB = 100 * 1024 * 1024
const LOCK_SECONDS = 120
const BLOB = /^sha256:([0-9a-f]{64})$/

const extra = { extra: t.isUnknown() }
const isIndex = t.isObject(
  {
    manifests: t.isArray(
      t.isObject(
        {
          mediaType: t.isString(),
          digest: t.cascade(t.isString(), [t.matchesRegExp(BLOB)]),
          size: t.isNumber(),
          artifactType: t.isOptional(t.isString()),
          annotations: t.isOptional(t.isRecord(t.isString())),
        },
        extra,
      ),
    ),
  },
  extra,
)

export function createLayout(folder: string): Layout {
  const blobs = join(folder, 'blobs', 'sha256')
  const indexPath = join(folder, 'index.json')
  const pathOf = (digest: string): string => join(blobs, BLOB.exec(digest)?.[1] ?? 'none')

  async function entries(): Promise<readonly Descriptor[]> {
    const text = await readFileIfThere(indexPath)
    return text === undefined ? [] : (parseDocument(text, indexPath, isIndex).manifests as Descriptor[])
  }

  async function read(digest: string): Promise<Buffer> {
    const path = pathOf(digest)
    const broken = (problem: string, cause?: unknown) =>
      failures.skill_store_broken({ path, problem }, { cause })
    try {
      if ((await stat(path)).size > MAX_BLOB) throw broken('it is too large.')
      const bytes = await readFile(path)
      if (sha256(bytes) !== digest) throw broken('its content is not what was built.')
      return bytes
    } catch (error) {
      if (isMissing(error)) throw broken('it is not there.', error)
      throw error
    }
  }

  async function write(list: readonly Descriptor[]): Promise<void> {
    await writeFileAtomic(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
    const index = { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests: list }
    await writeFileAtomic(indexPath, JSON.stringify(index))
  }

  /** Removes the blobs that no entry leads to, and the unfinished files of killed processes. */
  async function sweep(): Promise<void> {
    const reached = new Set<string>()
    for (const { digest } of await entries()) await reach(digest, reached)
    for (const name of await readdir(blobs)) {
      if (!reached.has(`sha256:${name}`)) await rm(join(blobs, name), { force: true })
    }
    for (const name of await readdir(folder)) {
      if (/^(?:index\.json|oci-layout)\..*\.tmp$/.test(name)) await rm(join(folder, name), { force: true })
    }
  }

  /** An index leads to manifests, and a manifest to a configuration and layers. */
  async function reach(digest: string, reached: Set<string>, depth = 0): Promise<void> {
    reached.add(digest)
    if (depth === 2) return
    const bytes = await read(digest).catch(error => {
      if (isFailure(error, 'skill_store_broken')) return undefined
      throw error
    })
    for (const next of bytes ? digestsIn(bytes) : []) await reach(next, reached, depth + 1)
  }

  const add: AddBlob = {
    bytes: content => writeFileAtomic(pathOf(sha256(content)), content),
    async file(writeTo) {
      const temporary = join(blobs, `${process.pid}.tmp`)
      const file = await open(temporary, 'w', 0o600)
      try {
        const made = await writeTo(file)
        await file.sync()
        await rename(temporary, pathOf(made.digest))
        return made
      } finally {
        await file.close()
      }
    },
  }

  return {
    entries,
    read,
    pathOf,
    async change(work) {
      await mkdir(blobs, { recursive: true, mode: 0o700 })
      const lock = join(folder, 'lock')
      return withFileLock(
        lock,
        async () => {
          try {
            const { entries: list, result } = await work(await entries(), add)
            await write(list)
            return result
          } finally {
            await sweep()
          }
        },
        { seconds: LOCK_SECONDS },
      )
    },
  }
}

const sha256 = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Returns the digests that an index or manifest points at. */
function digestsIn(bytes: Buffer): string[] {
  try {
    const {
      manifests = [],
      layers = [],
      config,
    } = JSON.parse(bytes.toString('utf8')) as {
      manifests?: { digest?: unknown }[]
      layers?: { digest?: unknown }[]
      config?: { digest?: unknown }
    }
    const all = [...manifests, ...layers, ...(config ? [config] : [])]
    return all.flatMap(({ digest }) => (typeof digest === 'string' ? [digest] : []))
  } catch {
    return []
  }
}
