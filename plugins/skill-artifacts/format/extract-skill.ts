import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { failures as core, Failure } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import { createCollisionCheck, pathProblem, printable } from './member-path.ts'
import { readTar, type TarMember } from './read-tar.ts'
import { LIMITS, type SkillLimits } from './skill-limits.ts'

export interface ExtractOptions {
  /** Replaces single members of `LIMITS`. */
  readonly limits?: Partial<SkillLimits>
  readonly signal?: AbortSignal | undefined
}

const refuse = (problem: string) => failures.skill_archive_refused({ problem })
const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`

/**
 * Unpacks a skill's archive (tar, gzip) into a folder that does not exist yet, or is empty. Files get the
 * mode 0644 and folders 0750, whatever the archive says. Fails with `skill_archive_refused` when a member
 * is anything but an ordinary file or folder with an ordinary path inside the folder, or when a limit is
 * exceeded. After a failure nothing of the archive is left.
 */
export async function extractSkill(
  archive: string,
  folder: string,
  options: ExtractOptions = {},
): Promise<void> {
  const limits = { ...LIMITS, ...options.limits }
  const made = await prepare(folder)
  try {
    await unpack(archive, folder, limits, options.signal)
  } catch (error) {
    await rm(made ?? folder, { recursive: true, force: true })
    if (made === undefined) await mkdir(folder, { mode: 0o750 })
    throw toFailure(error, folder)
  }
}

/** Makes the folder. Returns the first folder that was made for it; undefined when it existed and is empty. */
async function prepare(folder: string): Promise<string | undefined> {
  try {
    const made = await mkdir(folder, { recursive: true, mode: 0o750 })
    if (made !== undefined || (await readdir(folder)).length === 0) return made
  } catch (error) {
    throw toFailure(error, folder)
  }
  throw core.file_unwritable({ path: folder, problem: 'it is not empty.' })
}

async function unpack(
  archive: string,
  folder: string,
  limits: SkillLimits,
  signal?: AbortSignal,
): Promise<void> {
  const collisions = createCollisionCheck()
  let files = 0
  let folders = 0
  let total = 0
  for await (const member of readTar(gunzip(archive, limits, signal))) {
    signal?.throwIfAborted()
    const path = memberPath(member)
    if (path === undefined) continue
    const other = collisions.add(path, member.kind)
    if (other !== undefined) {
      const both =
        other === path ? 'is in it twice' : `is the same as "${printable(other)}" on some file systems`
      throw refuse(`"${printable(path)}" ${both}.`)
    }
    // Folders are made with their files; empty ones are left out.
    if (member.kind === 'folder' && ++folders > limits.files * 4) throw refuse('it has too many folders.')
    if (member.kind === 'folder') continue
    total += member.size
    if (++files > limits.files) throw refuse(`it has more than ${limits.files} files.`)
    if (member.size > limits.fileBytes) {
      throw refuse(`"${printable(path)}" is larger than ${mib(limits.fileBytes)}.`)
    }
    if (total > limits.totalBytes) throw refuse(`unpacked it is larger than ${mib(limits.totalBytes)}.`)
    await write(join(folder, path), member.content)
  }
  if (files === 0) throw refuse('it holds no files.')
}

/**
 * Returns the path of a member once it is checked; undefined for the folder itself. Many tar programs
 * write `./a` for `a`. Fails with `skill_archive_refused`.
 */
function memberPath({ path: written, kind }: TarMember): string | undefined {
  const path = written.replace(/^\.\//, '').replace(kind === 'folder' ? /\/$/ : /$^/, '')
  if (kind === 'folder' && (path === '' || path === '.') && !written.startsWith('/')) return undefined
  const problem = pathProblem(path)
  if (problem) throw refuse(`the path "${printable(written)}" in it is not allowed: ${problem}.`)
  return path
}

async function write(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 })
  const file = await open(path, 'wx', 0o644)
  try {
    for await (const chunk of content) await file.write(chunk)
    await file.chmod(0o644) // the umask may have taken bits away
  } finally {
    await file.close()
  }
}

/** Yields the unpacked bytes. Fails when they are too many for the packed size, or when bytes follow the gzip data. */
async function* gunzip(archive: string, limits: SkillLimits, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const { size } = await stat(archive)
  if (size > limits.archiveBytes) throw refuse(`it is larger than ${mib(limits.archiveBytes)}.`)
  const input = createReadStream(archive, signal ? { signal } : {})
  const output = createGunzip({ chunkSize: 64 * 1024 })
  input.on('error', error => output.destroy(error))
  input.pipe(output)
  // Headers and padding of small files take more than the files.
  const most = limits.totalBytes + (limits.files + 1) * 4096
  let unpacked = 0
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      unpacked += chunk.length
      const isBomb = unpacked > limits.ratioFrom && unpacked > output.bytesWritten * limits.ratio
      if (isBomb) throw refuse(`it unpacks to more than ${limits.ratio} times its size.`)
      if (unpacked > most) throw refuse(`unpacked it is larger than ${mib(limits.totalBytes)}.`)
      yield chunk
    }
    if (output.bytesWritten !== size) throw refuse('bytes follow the packed data.')
  } finally {
    input.destroy()
    output.destroy()
  }
}

const UNWRITABLE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full.',
  EDQUOT: 'your share of the disk is full.',
  EACCES: 'you are not allowed to.',
  EPERM: 'you are not allowed to.',
  EROFS: 'that file system can only be read.',
  ENOTDIR: 'a part of the path is not a folder.',
  EEXIST: 'it is not a folder.',
}

function toFailure(error: unknown, folder: string): unknown {
  if (error instanceof Failure || !(error instanceof Error && 'code' in error)) return error
  const code = String(error.code)
  if (code.startsWith('Z_')) {
    const problem = code === 'Z_BUF_ERROR' ? 'it ends too early.' : 'it is not a gzip file, or it is damaged.'
    return failures.skill_archive_refused({ problem }, { cause: error })
  }
  // A path within our limit can still be too long together with the path of the folder.
  if (code === 'ENAMETOOLONG') {
    return failures.skill_archive_refused({ problem: 'a path in it is too long.' }, { cause: error })
  }
  const problem = UNWRITABLE[code]
  if (problem) return core.file_unwritable({ path: folder, problem }, { cause: error })
  return error
}
