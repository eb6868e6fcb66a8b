import { createHash } from 'node:crypto'
import { copyFile, lstat, mkdir, readdir, readFile, readlink, stat, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import ignore from 'ignore'
import { failures as core } from '../../src/errors.ts'
import { isMissing, readFileIfThere } from '../../src/lib/atomic-file.ts'
import { failures } from './failures.ts'

/** Go code of the user's, read where it is and never written to. */
export interface LocalSource {
  readonly root: string
  /** Paths relative to `root`, sorted. */
  readonly files: readonly string[]
  /** Over names and contents. */
  readonly hash: string
  /** The folder of the program, relative to `root`. */
  readonly main: string
  /** The user's own Dockerfile, which then is used as it is. */
  readonly dockerfile: string | undefined
}

/** Finds what a local Go path needs: the folder with its own Dockerfile, or the module it lies in. */
export async function readLocalSource(path: string): Promise<LocalSource> {
  const found = await stat(path).catch(error => {
    if (isMissing(error)) throw core.file_missing({ path, what: 'The Go folder' })
    throw error
  })
  if (!found.isDirectory()) throw core.file_missing({ path, what: 'The Go folder' })
  const dockerfile = await readFileIfThere(join(path, 'Dockerfile'))
  const root = dockerfile === undefined ? await findModule(path) : path
  const files = await listFiles(root)
  return { root, files, hash: await hashOf(root, files), main: relative(root, path) || '.', dockerfile }
}

/** Copies it to where an image is built from. */
export async function copySource({ root, files }: LocalSource, target: string): Promise<void> {
  await mkdir(target, { recursive: true })
  for (const file of files) {
    const place = join(target, file)
    await mkdir(dirname(place), { recursive: true })
    const link = await readLink(join(root, file))
    if (link === undefined) await copyFile(join(root, file), place)
    else await symlink(link, place)
  }
}

async function findModule(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((await readFileIfThere(join(folder, 'go.mod'))) !== undefined) return folder
    if (folder === dirname(folder)) throw failures.recipe_no_module({ path })
  }
}

async function listFiles(root: string): Promise<string[]> {
  const ignored = ignore().add(
    (await readFileIfThere(join(root, '.dockerignore')))?.split('\n').map(anchor) ?? [],
  )
  const files: string[] = []
  async function walk(folder: string): Promise<void> {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (path === '.git' || ignored.ignores(entry.isDirectory() ? `${path}/` : path)) continue
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile() || entry.isSymbolicLink()) files.push(path)
    }
  }
  await walk('')
  return files.sort()
}

/** Patterns of .dockerignore count from the root, those of the library (gitignore) from anywhere. */
function anchor(line: string): string {
  const pattern = line.trim()
  if (!pattern || pattern.startsWith('#')) return ''
  const [sign, rest] = pattern.startsWith('!') ? ['!', pattern.slice(1)] : ['', pattern]
  return rest.startsWith('/') || rest.startsWith('**') ? sign + rest : `${sign}/${rest.replace(/^\.\//, '')}`
}

async function hashOf(root: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) {
    const link = await readLink(join(root, file))
    const content = link === undefined ? await readFile(join(root, file)) : Buffer.from(link)
    hash.update(`${file}\0${link === undefined ? 'file' : 'link'}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

async function readLink(path: string): Promise<string | undefined> {
  return (await lstat(path)).isSymbolicLink() ? readlink(path) : undefined
}
