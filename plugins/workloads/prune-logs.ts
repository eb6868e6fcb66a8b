import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** The supervisor's own log is nobody's workload. */
const KEPT = new Set(['supervisor'])

/** Deletes `<name>.log` (and what it was rotated to) of names that are no workload; answers the paths. */
export async function pruneLogs(folder: string, names: ReadonlySet<string>): Promise<string[]> {
  const files = await readdir(folder).catch(() => [])
  const stale = files.filter(file => {
    const name = /^(.+)\.log(?:\.\d+)?$/.exec(file)?.[1]
    return name !== undefined && !names.has(name) && !KEPT.has(name)
  })
  const paths = stale.sort().map(file => join(folder, file))
  await Promise.all(paths.map(path => rm(path, { force: true })))
  return paths
}
