import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, posix, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { HiddenPath, Mount } from '../../src/contracts/runtime.ts'
import { isMissing, readFileIfThere } from '../../src/lib/atomic-file.ts'
import type { Paths } from '../../src/paths.ts'
import { failures } from './failures.ts'
import type { HiddenFiles } from './index.ts'

/** Name of the ignore file in a mounted folder, and ToolHive's name for it. */
const LOCAL_FILES = ['.keelsonignore', '.thvignore'] as const
/** Name of the ignore file in the configuration folder. */
const GLOBAL_FILE = 'ignore'
/** More files than this in one mount are not looked through: starting would take minutes. */
const MOST_FILES = 200_000

export function createHiddenFiles({ paths }: { paths: Pick<Paths, 'config'> }): HiddenFiles {
  return {
    async find(config, mounts) {
      const global = await globalPatterns(config, paths)
      const found = await Promise.all(mounts.map(mount => inMount(mount, global)))
      const links = found.flatMap(({ links }) => links)
      const behind = await Promise.all(links.map(link => behindLink(link, mounts)))
      const files = found.flatMap(({ files }) => files)
      const rules = await Promise.all(files.map(file => wherever(file, mounts)))
      return outermost([...found.flatMap(({ hidden }) => hidden), ...behind.flat(), ...rules.flat()])
    },
  }
}

async function globalPatterns(config: RunConfig, paths: Pick<Paths, 'config'>): Promise<string> {
  if (config.ignore_config?.loadGlobal === false) return ''
  return (await readFileIfThere(join(paths.config, GLOBAL_FILE))) ?? ''
}

/** A link that is to be hidden: where it is on this host, and inside. */
interface Link {
  readonly source: string
  readonly target: string
}

/** What of one mounted folder is hidden, and its ignore files. */
interface Found {
  readonly hidden: HiddenPath[]
  readonly links: Link[]
  /** Where the ignore files are on this host. */
  readonly files: readonly string[]
}

/**
 * A mounted file is what the user named, and stays. Each ignore file counts for itself: one that a server
 * makes shows nothing again that another hides.
 */
async function inMount(mount: Mount, global: string): Promise<Found> {
  const hidden: HiddenPath[] = []
  const links: Link[] = []
  if (!(await isFolder(mount.source))) return { hidden, links, files: [] }
  const files = await localFiles(mount)
  const local = await Promise.all(files.map(file => readFileIfThere(file)))
  const rules = [global, ...local]
    .filter((text): text is string => text !== undefined && text.trim() !== '')
    .map(text => ignore().add(text))
  if (rules.length === 0) return { hidden, links, files }
  let seen = 0
  for await (const entry of walk(mount.source, rules)) {
    if (++seen > MOST_FILES) throw failures.ignore_too_many({ path: mount.source, most: MOST_FILES })
    if (!entry.ignored) continue
    const target = posix.join(mount.target, entry.path)
    if (entry.link) links.push({ source: join(mount.source, entry.path), target })
    else hidden.push({ target, directory: entry.directory })
  }
  return { hidden, links, files }
}

/** The ignore files of a mounted folder. In one that the server may write they must be files: a file can be covered. */
async function localFiles({ source, readOnly }: Mount): Promise<string[]> {
  const files: string[] = []
  for (const path of LOCAL_FILES.map(name => join(source, name))) {
    const entry = await (readOnly ? stat : lstat)(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })
    if (entry?.isFile()) files.push(path)
    else if (entry && !readOnly) throw failures.ignore_no_file({ path })
  }
  return files
}

/**
 * What a link leads to, wherever it is mounted. The link itself cannot be covered: engines follow it. It
 * is read twice, as this host reads it and as a program inside does, where other folders are mounted.
 */
async function behindLink({ source, target }: Link, mounts: readonly Mount[]): Promise<HiddenPath[]> {
  const text = await readlink(source).catch(() => undefined)
  const inside = text === undefined ? undefined : posix.resolve(dirname(target), text)
  const places = [
    await realpath(source).catch(() => undefined),
    ...mounts.flatMap(mount => {
      const path = inside === undefined ? undefined : below(mount.target, inside)
      return path === undefined ? [] : [join(mount.source, path)]
    }),
  ]
  const hidden: HiddenPath[] = []
  for (const place of places) {
    if (place !== undefined) hidden.push(...(await wherever(place, mounts)))
  }
  return hidden
}

/** A file or folder of this host, in each mount in which it lies. */
async function wherever(place: string, mounts: readonly Mount[]): Promise<HiddenPath[]> {
  const found = await stat(place).catch(() => undefined)
  if (!found) return []
  const hidden: HiddenPath[] = []
  for (const mount of mounts) {
    const path = below(await realpath(mount.source).catch(() => mount.source), await realpath(place))
    if (path) hidden.push({ target: posix.join(mount.target, path), directory: found.isDirectory() })
  }
  return hidden
}

/** The path from a folder to what is in it; undefined for what is not. */
function below(folder: string, path: string): string | undefined {
  const way = relative(folder, path)
  return way === '..' || way.startsWith(`..${sep}`) || way.startsWith(sep) ? undefined : way
}

/** Each path once, and none within a folder that is hidden whole: there is nothing to cover in it. */
function outermost(all: readonly HiddenPath[]): HiddenPath[] {
  const folders = all.filter(({ directory }) => directory).map(({ target }) => `${target}/`)
  const once = new Map(all.map(path => [path.target, path]))
  return [...once.values()].filter(({ target }) => !folders.some(folder => target.startsWith(folder)))
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    entry => entry.isDirectory(),
    () => false,
  )

interface Entry {
  /** Relative to the mount, with slashes. */
  readonly path: string
  readonly directory: boolean
  readonly link: boolean
  readonly ignored: boolean
}

/**
 * Every path below a folder; not into what is ignored (it is hidden whole), nor through links. A link to
 * a folder is ignored by a pattern for folders too, though git would let it be.
 */
async function* walk(root: string, rules: readonly Ignore[], from = ''): AsyncGenerator<Entry> {
  for (const entry of await readdir(join(root, from), { withFileTypes: true })) {
    const path = posix.join(from, entry.name)
    const link = entry.isSymbolicLink()
    const directory = entry.isDirectory()
    const isLikeFolder = directory || (link && (await isFolder(join(root, path))))
    const ignored = rules.some(
      one => (isLikeFolder && one.ignores(`${path}/`)) || (!directory && one.ignores(path)),
    )
    yield { path, directory, link, ignored }
    if (directory && !ignored) yield* walk(root, rules, path)
  }
}
