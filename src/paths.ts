import { homedir, tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'

/** Where keelson keeps its files (XDG Base Directory Specification; the platform's own folders elsewhere). */
export interface Paths {
  readonly home: string
  /** Settings. */
  readonly config: string
  /** Statuses, logs, installed packages and plugins. */
  readonly data: string
  /** Run configs, groups. */
  readonly state: string
  /** What can be made again. */
  readonly cache: string
  /** Sockets and locks; gone after a reboot. */
  readonly runtime: string
}

type Env = Readonly<Record<string, string | undefined>>

export function findPaths(env: Env, platform: NodeJS.Platform = process.platform): Paths {
  const home = resolve(env.HOME || homedir())
  const app = 'keelson'
  const macos = join(home, 'Library', 'Application Support')
  const windows = env.LOCALAPPDATA ?? join(home, 'AppData', 'Local')
  const folder = (variable: string, fallback: string) => {
    const chosen = env[variable]
    if (chosen?.startsWith('/')) return join(chosen, app)
    if (platform === 'darwin') return join(macos, app)
    return join(platform === 'win32' ? windows : join(home, fallback), app)
  }
  const data = folder('XDG_DATA_HOME', '.local/share')
  return {
    home,
    data,
    config: folder('XDG_CONFIG_HOME', '.config'),
    state: folder('XDG_STATE_HOME', '.local/state'),
    cache: folder('XDG_CACHE_HOME', '.cache'),
    runtime: runtimeFolder(env, data),
  }
}

/**
 * Socket paths are short by law (108 bytes on Linux, 104 on macOS), so a deep data folder
 * (a test's, say) falls back to the temporary folder, named after the user and that data folder.
 */
function runtimeFolder(env: Env, data: string): string {
  if (env.XDG_RUNTIME_DIR?.startsWith('/')) return join(env.XDG_RUNTIME_DIR, 'keelson')
  const inData = join(data, 'run')
  if (inData.length <= 80) return inData
  let hash = 5381
  for (const char of data) hash = (Math.imul(hash, 33) ^ char.charCodeAt(0)) >>> 0
  return join(tmpdir(), `keelson-${userInfo().uid}-${hash.toString(36)}`)
}
