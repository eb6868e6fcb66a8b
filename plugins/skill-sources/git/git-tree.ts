import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { createCollisionCheck, LIMITS, pathProblem, printable } from '../../skill-artifacts/index.ts'
import type { Git } from './git-program.ts'
import { readExactly } from './read-exactly.ts'

/** A file of a commit. */
export interface GitFile {
  /** Relative to the skill's folder, with slashes. */
  readonly path: string
  readonly object: string
  readonly size: number
  readonly executable: boolean
}

/** Thrown when the files of a commit cannot be a skill. The message says why, for people. */
export class GitTreeProblem extends Error {
  override readonly name = 'GitTreeProblem'
}

/** Most bytes of a listing of a repository; the one of a skill's folder is far smaller. */
const MAX_LISTING = 4_000_000

/** Most bytes of all files of a repository, because all are fetched. */
const MAX_TOTAL = 100 * 1024 * 1024

/**
 * Lists the files of a folder of a commit from git's objects, before any is written. Throws GitTreeProblem
 * for links, submodules, names that are odd or collide, and too many or too large files.
 */
export async function listGitFolder(
  git: Git,
  commit: string,
  folder: string | undefined,
): Promise<GitFile[]> {
  const where = folder === undefined ? [] : ['--', `${folder}/`]
  const listing = await git(['ls-tree', '-r', '-z', '-l', '--full-tree', commit, ...where], {
    maxBytes: MAX_LISTING,
  })
  if (listing.tooLong) throw tooMany()
  if (!listing.ok) throw new Error(`git ls-tree failed: ${listing.stderr.slice(0, 500)}`)
  const lines = splitAtNul(listing.stdout)
  // A submodule of that name is listed itself, unlike a folder.
  if (folder !== undefined && lines[0]?.toString('utf8').endsWith(`\t${folder}`)) return []
  if (lines.length > LIMITS.files) throw tooMany()
  const collisions = createCollisionCheck()
  let total = 0
  return lines.map(line => {
    const file = parseLine(line, folder)
    const other = collisions.add(file.path, 'file')
    if (other !== undefined) {
      throw refused(file.path, `on some file systems it is the same as "${printable(other)}"`)
    }
    total += file.size
    if (file.size > LIMITS.fileBytes || total > MAX_TOTAL) {
      throw new GitTreeProblem(`its files have more than ${MAX_TOTAL / 1024 / 1024} MiB`)
    }
    return file
  })
}

/** Returns a few folders of a commit that hold a SKILL.md. It is for hints, so it never fails. */
export async function findSkillFolders(git: Git, commit: string): Promise<string[]> {
  const listing = await git(['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit], {
    maxBytes: MAX_LISTING,
  })
  return splitAtNul(listing.stdout)
    .map(bytes => bytes.toString('utf8'))
    .filter(path => path.endsWith('/SKILL.md') && pathProblem(path) === undefined && !/\s/.test(path))
    .map(path => dirname(path))
    .slice(0, 5)
}

/** Writes files with their bytes in git, which no filter, line-ending setting or attribute changes. */
export async function writeGitFiles(git: Git, files: readonly GitFile[], target: string): Promise<void> {
  await git(['cat-file', '--batch', '--buffer'], {
    input: files.map(({ object }) => `${object}\n`).join(''),
    async read(output) {
      for (const file of files) {
        await expectHeader(output, file)
        await writeOne(output, file, join(target, ...file.path.split('/')))
        await readExactly(output, 1)
      }
    },
  })
}

const tooMany = () => new GitTreeProblem(`it has more than ${LIMITS.files} files`)

const refused = (path: string, problem: string) =>
  new GitTreeProblem(`"${printable(path)}" is refused: ${problem}`)

function splitAtNul(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from)
    lines.push(bytes.subarray(from, end < 0 ? bytes.length : end))
    from = end < 0 ? bytes.length : end + 1
  }
  return lines
}

/** `<mode> SP <type> SP <object> SP+ <size> TAB <path>` (git-ls-tree(1), with -l). */
function parseLine(line: Buffer, folder: string | undefined): GitFile {
  const tab = line.indexOf(9)
  const [mode, , object = '', size] = line.subarray(0, tab).toString('latin1').split(/ +/)
  const whole = line.subarray(tab + 1).toString('utf8')
  const path = folder === undefined ? whole : whole.slice(folder.length + 1)
  if (mode === '120000') throw refused(path, 'it is a link')
  if (mode === '160000') throw refused(path, 'it is a submodule')
  if (mode !== '100644' && mode !== '100755' && mode !== '100664')
    throw refused(path, 'it is not an ordinary file')
  const odd = pathProblem(path)
  if (odd) throw refused(path, `its name is not allowed: ${odd}`)
  return { path, object, size: Number(size), executable: mode === '100755' }
}

/** `<object> SP blob SP <size> LF` (git-cat-file(1), "Batch output"). */
async function expectHeader(output: Readable, { object, size }: GitFile): Promise<void> {
  const wanted = `${object} blob ${size}\n`
  const found = (await readExactly(output, wanted.length)).toString('latin1')
  if (found !== wanted) throw new GitTreeProblem('an object of it cannot be read')
}

async function writeOne(output: Readable, { size, executable }: GitFile, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  const file = await open(path, 'wx', executable ? 0o755 : 0o644)
  try {
    for (let left = size; left > 0; ) {
      const chunk = await readExactly(output, Math.min(left, 64 * 1024))
      await file.writeFile(chunk)
      left -= chunk.length
    }
  } finally {
    await file.close()
  }
}
