import { readdir, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { HiddenPath, Mount } from '../../src/contracts/runtime.ts'
import { readFileIfThere } from '../../src/lib/atomic-file.ts'
import type { Paths } from '../../src/paths.ts'
import { failures } from './failures.ts'
import type { Overlays } from './index.ts'

/** Name of the ignore file in a mounted folder, and ToolHive's name for it. */
const LOCAL_FILES = ['.keelsonignore', '.thvignore'] as const
/** Name of the ignore file in the configuration folder. */
const GLOBAL_FILE = 'ignore'
/** More files than this in one mount are not looked through: starting would take minutes. */
const MOST_FILES = 200_000

export function createOverlays({ paths }: { paths: Pick<Paths, 'config'> }): Overlays {
  return {
    async find(config, mounts) {
      const global = await globalPatterns(config, paths)
      const hidden = await Promise.all(mounts.map(mount => inMount(mount, global)))
      return hidden.flat()
    },
  }
}

async function globalPatterns(config: RunConfig, paths: Pick<Paths, 'config'>): Promise<string> {
  if (config.ignore_config?.loadGlobal === false) return ''
  return (await readFileIfThere(join(paths.config, GLOBAL_FILE))) ?? ''
}

/** What of one mounted folder is hidden. A mounted file is what the user named, and stays. */
async function inMount(mount: Mount, global: string): Promise<HiddenPath[]> {
  const isFolder = await stat(mount.source).then(
    entry => entry.isDirectory(),
    () => false,
  )
  if (!isFolder) return []
  const local = await Promise.all(LOCAL_FILES.map(file => readFileIfThere(join(mount.source, file))))
  const patterns = [global, ...local.map(text => text ?? '')].filter(text => text.trim())
  if (patterns.length === 0) return []
  const rules = ignore().add(patterns.join('\n'))
  const hidden: HiddenPath[] = []
  let seen = 0
  for await (const entry of walk(mount.source, rules)) {
    if (++seen > MOST_FILES) throw failures.ignore_too_many({ path: mount.source, most: MOST_FILES })
    if (entry.ignored)
      hidden.push({ target: posix.join(mount.target, entry.path), directory: entry.directory })
  }
  return hidden
}

interface Entry {
  /** Relative to the mount, with slashes. */
  readonly path: string
  readonly directory: boolean
  readonly ignored: boolean
}

/**
 * Every path below a folder; not into what is ignored (it is hidden whole), nor through links. A link
 * itself is left out: covering it would cover, or make, what it leads to.
 */
async function* walk(root: string, rules: Ignore, below = ''): AsyncGenerator<Entry> {
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = posix.join(below, entry.name)
    const directory = entry.isDirectory()
    const ignored = rules.ignores(directory ? `${path}/` : path)
    yield { path, directory, ignored }
    if (directory && !ignored) yield* walk(root, rules, path)
  }
}
