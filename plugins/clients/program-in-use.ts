import { constants } from 'node:fs'
import { access, realpath } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** How another application starts this program: Node and the script, both as absolute paths. */
export type Program = readonly [node: string, script: string]

/**
 * The program that runs, written so that it outlives upgrades. What was written before stays while it leads to the
 * same script. Else the names on `path` are taken, since an upgrade changes what these lead to.
 */
export async function programInUse(options: {
  running: Program
  /** Folders, as in the variable PATH. */
  path: string | undefined
  written: readonly Program[]
}): Promise<Program> {
  const { running, path = '', written } = options
  const [node, script] = running
  const folders = path.split(delimiter).filter(Boolean)
  for (const [before, link] of written) {
    if ((await isExecutable(before)) && (await leadsTo(link, script))) return [before, link]
  }
  return Promise.all([findName('node', node, folders), findName('keelson', script, folders)])
}

/** The variables by which `findPaths` finds files, as far as they are set. */
export const foldersIn = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    FOLDERS.flatMap(name => {
      const folder = env[name]
      return folder?.startsWith('/') ? [[name, folder]] : []
    }),
  )

const FOLDERS = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME']

/** The name in one of the folders that leads to the file; the file itself when none does. */
async function findName(name: string, file: string, folders: readonly string[]): Promise<string> {
  for (const folder of folders) {
    // The folder itself may be a link that lasts no longer than a shell.
    if (await leadsTo(join(folder, name), file)) return join(await realpath(folder), name)
  }
  return file
}

async function leadsTo(link: string, file: string): Promise<boolean> {
  try {
    return (await realpath(link)) === (await realpath(file))
  } catch {
    return false
  }
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
