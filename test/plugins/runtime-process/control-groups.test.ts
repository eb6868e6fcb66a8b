import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  enterGroups,
  findControlGroups,
  groupFolders,
  removeGroups,
} from '../../../plugins/runtime-process/limits/control-groups.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const limits = { memory: 1_000_000, cpus: 1.5, pids: 100 }

/** Files as the kernel shows them, in a folder; the kernel's own are tried by the tests of limits. */
async function world(own: string, mounts: (at: string) => string[], groups: Record<string, string>) {
  const root = await temporaryFolder()
  const proc = join(root, 'proc')
  await mkdir(proc)
  await writeFile(join(proc, 'cgroup'), own)
  await writeFile(join(proc, 'mountinfo'), mounts(root).join('\n'))
  for (const [path, controllers] of Object.entries(groups)) {
    await mkdir(join(root, path), { recursive: true })
    await writeFile(join(root, path, 'cgroup.subtree_control'), controllers)
    await writeFile(join(root, path, 'cgroup.procs'), '')
  }
  return { root, found: await findControlGroups(proc) }
}

describe('version 2', () => {
  const mount = (root: string) => [`25 20 0:22 / ${root}/fs rw,nosuid - cgroup2 cgroup2 rw`]

  test('the nearest group above that passes a controller on takes ours', async () => {
    const { root, found } = await world('0::/user/service/app/terminal\n', mount, {
      fs: 'memory pids cpu',
      'fs/user': '',
      'fs/user/service': 'memory pids cpu',
      'fs/user/service/app': 'memory pids',
      'fs/user/service/app/terminal': '',
    })
    expect(found.memory?.folder).toBe(join(root, 'fs/user/service/app'))
    expect(found.pids?.folder).toBe(join(root, 'fs/user/service/app'))
    expect(found.cpus?.folder).toBe(join(root, 'fs/user/service'))
    await enterGroups(found, { id: 'x', limits, pid: 4711 })
    const [place = ''] = [join(root, 'fs/user/service/app/keelson-x')]
    expect(await readFile(join(place, 'memory.max'), 'utf8')).toBe('1000000')
    expect(await readFile(join(place, 'memory.swap.max'), 'utf8')).toBe('0')
    expect(await readFile(join(place, 'pids.max'), 'utf8')).toBe('100')
    expect(await readFile(join(root, 'fs/user/service/keelson-x/cpu.max'), 'utf8')).toBe('150000 100000')
  })

  test('where none passes them on there is no group', async () => {
    const { found } = await world('0::/a\n', mount, { fs: '', 'fs/a': '' })
    expect(found).toEqual({})
  })
})

describe('version 1', () => {
  const mounts = (root: string) => [
    `35 31 0:32 / ${root}/memory rw - cgroup cgroup rw,memory`,
    `39 31 0:36 /outer ${root}/pids rw - cgroup cgroup rw,pids`,
    `32 31 0:29 / ${root}/cpu rw - cgroup cgroup rw,cpu,cpuacct`,
  ]

  test('our own group takes others, also where only a part of the tree is mounted', async () => {
    const own = '9:pids:/outer/inner\n4:memory:/here\n1:cpu,cpuacct:/\n'
    const { root, found } = await world(own, mounts, { 'memory/here': '', 'pids/inner': '', cpu: '' })
    expect(groupFolders(found, 'x').sort()).toEqual(
      ['cpu/keelson-x', 'memory/here/keelson-x', 'pids/inner/keelson-x'].map(path => join(root, path)),
    )
    await enterGroups(found, { id: 'x', limits, pid: 4711 })
    const read = (path: string) => readFile(join(root, path), 'utf8')
    expect(await read('memory/here/keelson-x/memory.limit_in_bytes')).toBe('1000000')
    expect(await read('memory/here/keelson-x/memory.memsw.limit_in_bytes')).toBe('1000000')
    expect(await read('pids/inner/keelson-x/pids.max')).toBe('100')
    expect(await read('cpu/keelson-x/cpu.cfs_quota_us')).toBe('150000')
    expect(await read('cpu/keelson-x/cgroup.procs')).toBe('4711')
  })
})

test('removing groups that are not there does nothing', async () => {
  await removeGroups([join(await temporaryFolder(), 'nothing')])
})
