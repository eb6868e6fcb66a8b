import { createHash, type Hash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isFailure } from '../../src/errors.ts'
import type { PackedLayer } from './artifact-documents.ts'
import { failures } from './failures.ts'
import { describeProblem, treeProblems } from './format/check-tree.ts'
import { toFinding } from './format/examine-skill.ts'
import { parseSkill } from './format/parse-skill.ts'
import { BUILD_BYTES, LIMITS } from './format/skill-limits.ts'
import { isHidden, walkTree } from './format/walk-tree.ts'
import { gzipReproducibly } from './reproducible-gzip.ts'
import type { SkillManifest } from './skill-manifest.ts'
import { type TarFile, writeTar } from './write-tar.ts'

const refuse = (problem: string) => failures.skill_build_refused({ problem })
const mib = (bytes: number): string => `${bytes / 1024 / 1024} MiB`

/**
 * Packs the skill in a folder into a file, without hidden files, modes and times. Fails with
 * `skill_build_refused` when the folder is not a valid skill.
 */
export async function packSkill(
  folder: string,
  target: FileHandle,
  { epoch, signal }: { epoch: number; signal?: AbortSignal | undefined },
): Promise<{ readonly manifest: SkillManifest; readonly layer: PackedLayer }> {
  const paths = await pathsOf(folder)
  const manifest = await readManifest(folder)
  const plain = createHash('sha256')
  const packed = createHash('sha256')
  let size = 0
  const archive = hashed(writeTar(readFiles(folder, paths), { mtime: epoch }), plain)
  for await (const chunk of gzipReproducibly(archive, { mtime: epoch })) {
    signal?.throwIfAborted()
    packed.update(chunk)
    size += chunk.length
    if (size > LIMITS.archiveBytes) throw refuse(`packed it is larger than ${mib(LIMITS.archiveBytes)}.`)
    await target.write(chunk)
  }
  const digest = (hash: Hash) => `sha256:${hash.digest('hex')}`
  return { manifest, layer: { digest: digest(packed), size, diffId: digest(plain), files: paths } }
}

/** Returns the paths to pack, sorted by their bytes. */
async function pathsOf(folder: string): Promise<string[]> {
  const root = await lstat(folder).catch(() => undefined)
  if (!root) throw refuse(`${folder} does not exist.`)
  if (root.isSymbolicLink()) throw refuse(`${folder} is a link. Name the folder itself.`)
  if (!root.isDirectory()) throw refuse(`${folder} is not a folder.`)
  for await (const problem of treeProblems(folder, { skip: isHidden })) throw refuse(describeProblem(problem))
  const paths: string[] = []
  for await (const { path, kind } of walkTree(folder, { skip: isHidden }))
    if (kind === 'file') paths.push(path)
  if (!paths.includes('SKILL.md')) throw failures.skill_missing({ folder })
  return paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

async function readManifest(folder: string): Promise<SkillManifest> {
  const { content } = await readOne(folder, 'SKILL.md')
  try {
    return parseSkill(content).manifest
  } catch (error) {
    if (!isFailure(error, 'skill_invalid')) throw error
    throw failures.skill_build_refused({ problem: toFinding(error) }, { cause: error })
  }
}

async function* readFiles(folder: string, paths: readonly string[]): AsyncGenerator<TarFile> {
  let total = 0
  for (const path of paths) {
    const file = await readOne(folder, path)
    total += file.content.length
    if (total > BUILD_BYTES) throw refuse(`its files have more than ${mib(BUILD_BYTES)}.`)
    yield file
  }
}

/** Reads one file. Fails when it has become a link since it was listed. */
async function readOne(folder: string, path: string): Promise<TarFile> {
  try {
    const file = await open(
      join(folder, path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw refuse(`"${path}" is no longer a file.`)
      if (stats.size > BUILD_BYTES) throw refuse(`"${path}" is larger than ${mib(BUILD_BYTES)}.`)
      return { path, content: await file.readFile() }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error
    const problem = `${error.code}.`
    throw failures.skill_unreadable({ path: join(folder, path), problem }, { cause: error })
  }
}

async function* hashed(source: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    hash.update(chunk)
    yield chunk
  }
}
