import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The log of the supervisor, which belongs to no workload. */
const KEPT = new Set(['supervisor'])

/** The paths of `<name>.log` and its rotated files where there is no workload of that name. */
export async function findStaleLogs(folder: string, names: ReadonlySet<string>): Promise<string[]> {
  const files = await readdir(folder).catch(() => [])
  const stale = files.filter(file => {
    const name = /^(.+)\.log(?:\.\d+)?$/.exec(file)?.[1]
    return name !== undefined && !names.has(name) && !KEPT.has(name)
  })
  return stale.sort().map(file => join(folder, file))
}
