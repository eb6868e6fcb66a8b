import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { isMissing } from '../../src/lib/atomic-file.ts'
import type { ClientSpec, Place } from './known-clients.ts'

/** Where applications of this user keep their files. */
export interface Surroundings {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
}

/** The absolute path of a place. `XDG_CONFIG_HOME` (Linux) and `APPDATA` (Windows) are honoured, as the clients do. */
export function locate({ base, path, except }: Place, { home, env, platform }: Surroundings): string {
  const os = platform === 'darwin' ? 'macos' : platform === 'win32' ? 'windows' : 'linux'
  const chosen = except?.[os] ?? (base === 'home' ? path : join(FOLDERS[base][os], path))
  const parts = chosen.split(/[\\/]/)
  const below = (parents: string[], folder: string | undefined) =>
    folder !== undefined && isAbsolute(folder) && parents.every((parent, i) => parts[i] === parent)
      ? join(folder, ...parts.slice(parents.length))
      : undefined
  const moved =
    os === 'linux'
      ? below(['.config'], env.XDG_CONFIG_HOME)
      : os === 'windows'
        ? below(['AppData', 'Roaming'], env.APPDATA)
        : undefined
  return moved ?? join(home, ...parts)
}

const FOLDERS = {
  config: { linux: '.config', macos: '.config', windows: 'AppData/Roaming' },
  application: { linux: '.config', macos: 'Library/Application Support', windows: 'AppData/Roaming' },
}

/** Whether the client seems to be installed: the folder of its file is there; of a file in the home folder, the file. */
export async function isInstalled(client: ClientSpec, surroundings: Surroundings): Promise<boolean> {
  const file = locate(client.file, surroundings)
  const sign = dirname(file) === join(surroundings.home) ? file : dirname(file)
  try {
    await stat(sign)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
