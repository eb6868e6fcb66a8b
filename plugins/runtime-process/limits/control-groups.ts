import { access, constants, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Limits } from '../../../src/contracts/runtime.ts'

/** Where one controller of the kernel takes groups of ours, and in which version's files (cgroups(7)). */
interface Place {
  /** A group is made in here. */
  readonly folder: string
  readonly version: 1 | 2
}

/** Places for groups, by limit; a limit without one cannot be held by a group. */
export type ControlGroups = Readonly<Partial<Record<keyof Limits, Place>>>

const CONTROLLERS = { memory: 'memory', cpus: 'cpu', pids: 'pids' } as const satisfies Record<
  keyof Limits,
  string
>
export const LIMITS = Object.keys(CONTROLLERS) as (keyof Limits)[]
/** Microseconds (cpu.cfs_period_us, cpu.max). */
const PERIOD = 100_000
const PROBE = `keelson-probe-${process.pid}`

/**
 * Finds where this process may make control groups: below its own group of version 1, or in the nearest
 * group above it of version 2 that passes controllers on. Nothing is found where the system keeps them to itself.
 */
export async function findControlGroups(proc = '/proc/self'): Promise<ControlGroups> {
  const [own, mounts] = await Promise.all(
    ['cgroup', 'mountinfo'].map(file => readFile(join(proc, file), 'utf8').catch(() => '')),
  )
  const found: Partial<Record<keyof Limits, Place>> = {}
  for (const limit of LIMITS) {
    const place =
      (await firstPlace(own ?? '', mounts ?? '', CONTROLLERS[limit])) ??
      (await unifiedPlace(own ?? '', mounts ?? '', CONTROLLERS[limit]))
    if (place) found[limit] = place
  }
  return found
}

async function firstPlace(own: string, mounts: string, controller: string): Promise<Place | undefined> {
  const path = pathOf(own, controllers => controllers.split(',').includes(controller))
  const mount = mountOf(mounts, 'cgroup', controller)
  if (path === undefined || !mount) return undefined
  const folder = within(mount, path)
  return folder !== undefined && (await takesGroups(folder)) ? { folder, version: 1 } : undefined
}

async function unifiedPlace(own: string, mounts: string, controller: string): Promise<Place | undefined> {
  const path = pathOf(own, controllers => controllers === '')
  const mount = mountOf(mounts, 'cgroup2')
  if (path === undefined || !mount) return undefined
  const start = within(mount, path)
  for (let folder = start; folder?.startsWith(mount.point); folder = dirname(folder)) {
    const passed = await readFile(join(folder, 'cgroup.subtree_control'), 'utf8').catch(() => '')
    // A process moves only where its mover may write to the group that both places lie in.
    const movable = await access(join(folder, 'cgroup.procs'), constants.W_OK).then(
      () => true,
      () => false,
    )
    if (passed.trim().split(' ').includes(controller) && movable && (await takesGroups(folder)))
      return { folder, version: 2 }
  }
  return undefined
}

/** A line of cgroup(7)'s /proc/self/cgroup: `4:memory:/user`, or `0::/user` of version 2. */
function pathOf(own: string, fits: (controllers: string) => boolean): string | undefined {
  for (const line of own.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers !== undefined && fits(controllers)) return path
  }
  return undefined
}

interface MountPoint {
  readonly root: string
  readonly point: string
}

/** proc(5), mountinfo: root and mount point are fields 4 and 5; type and options follow a hyphen. */
function mountOf(mounts: string, type: string, controller?: string): MountPoint | undefined {
  for (const line of mounts.split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , root, point] = before.split(' ')
    const [found, , options = ''] = after.split(' ')
    if (!root || !point || found !== type) continue
    if (controller === undefined || options.split(',').includes(controller)) return { root, point }
  }
  return undefined
}

/** A group's folder under its mount, which may show only a part of the tree. */
function within({ root, point }: MountPoint, path: string): string | undefined {
  if (root === '/') return join(point, path)
  return path === root || path.startsWith(`${root}/`) ? join(point, path.slice(root.length)) : undefined
}

async function takesGroups(folder: string): Promise<boolean> {
  const probe = join(folder, PROBE)
  return mkdir(probe).then(
    () => rmdir(probe).then(() => true),
    () => false,
  )
}

/** Folders of the groups that an instance of this id gets, made or not. */
export const groupFolders = (groups: ControlGroups, id: string): string[] => [
  ...new Set(Object.values(groups).map(({ folder }) => join(folder, `keelson-${id}`))),
]

/** Makes an instance's groups with their limits and puts the process in; its children follow. */
export async function enterGroups(
  groups: ControlGroups,
  { id, limits, pid }: { id: string; limits: Required<Limits>; pid: number },
): Promise<void> {
  const folders = groupFolders(groups, id)
  for (const folder of folders) await mkdir(folder, { recursive: true })
  for (const limit of LIMITS) {
    const place = groups[limit]
    if (!place) continue
    for (const { file, value, optional } of settings(limit, limits[limit], place.version)) {
      await writeFile(join(place.folder, `keelson-${id}`, file), value).catch((error: unknown) => {
        if (!optional) throw error
      })
    }
  }
  for (const folder of folders) await writeFile(join(folder, 'cgroup.procs'), String(pid))
}

/** Removes groups whose processes have ended; what still holds one is waited for a moment. */
export async function removeGroups(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (let tries = 0; tries < 20; tries++) {
      const busy = await rmdir(folder).then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === 'EBUSY',
      )
      if (!busy) break
      await delay(50)
    }
  }
}

interface Setting {
  readonly file: string
  readonly value: string
  /** Kernels without accounting of swap do not have the file; a group above that has less time forbids more. */
  readonly optional?: true
}

/** Memory includes swap, as in containers. */
function settings(limit: keyof Limits, value: number, version: 1 | 2): Setting[] {
  if (limit === 'pids') return [{ file: 'pids.max', value: String(value) }]
  if (limit === 'memory') {
    return version === 2
      ? [
          { file: 'memory.max', value: String(value) },
          { file: 'memory.swap.max', value: '0', optional: true },
        ]
      : [
          { file: 'memory.limit_in_bytes', value: String(value) },
          { file: 'memory.memsw.limit_in_bytes', value: String(value), optional: true },
        ]
  }
  const quota = String(Math.max(1000, Math.round(value * PERIOD)))
  return version === 2
    ? [{ file: 'cpu.max', value: `${quota} ${PERIOD}` }]
    : [
        { file: 'cpu.cfs_period_us', value: String(PERIOD) },
        { file: 'cpu.cfs_quota_us', value: quota, optional: true },
      ]
}
