import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Whether a process of this host runs from the folder of a package. Several installations can share the folder
 * of packages, and the instances of the others are in no record of ours. A sandboxed instance is found by the
 * arguments of bubblewrap. False where there is no /proc.
 */
export async function hasProcess(place: string): Promise<boolean> {
  const end = join(basename(dirname(place)), basename(place)) // the path before it may be another one, by a link
  const entries = await readdir('/proc').catch(() => [])
  const found = await Promise.all(
    entries.filter(entry => /^\d+$/.test(entry)).map(pid => readPaths(join('/proc', pid))),
  )
  return found.flat().some(text => text.includes(end))
}

/** The command line, the program and the working folder of a process, as far as we may read them. */
const readPaths = (folder: string): Promise<string[]> =>
  Promise.all(
    [
      readFile(join(folder, 'cmdline'), 'utf8'),
      readlink(join(folder, 'exe')),
      readlink(join(folder, 'cwd')),
    ].map(path => path.catch(() => '')),
  )
