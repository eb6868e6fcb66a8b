import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assertMountsHold } from '../../../plugins/supervisor/host/assert-mounts-hold.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const mount = (source: string, target: string, readOnly = false) => ({ source, target, readOnly })
const refused = (link: string) => ({ code: 'mount_through_link', message: expect.stringContaining(link) })

async function ground() {
  const root = await temporaryFolder()
  const folder = join(root, 'p')
  await mkdir(join(folder, 'sub/deep'), { recursive: true })
  await mkdir(join(root, 'private/deep'), { recursive: true })
  return { root, folder, sub: join(folder, 'sub') }
}

test('mounts within each other stand while no link is between them', async () => {
  const { root, folder, sub } = await ground()
  await symlink(folder, join(root, 'way'))
  await assertMountsHold([mount(folder, '/p'), mount(sub, '/s', true), mount(join(folder, 'gone'), '/g')])
  await assertMountsHold([mount(join(root, 'way'), '/p'), mount(join(root, 'way/sub'), '/p/sub')])
})

test.each(['deep', '../sub/deep', ''])(
  'a link in a writable folder is found at or above its "%s"',
  async below => {
    const { root, folder, sub } = await ground()
    await rm(sub, { recursive: true })
    await symlink('../private', sub)
    await symlink(folder, join(root, 'way'))
    for (const outer of [folder, join(root, 'way')]) {
      for (const inner of [`${sub}/${below}`, `${root}/way/sub/${below}`]) {
        await expect(assertMountsHold([mount(outer, '/p'), mount(inner, '/s')])).rejects.toMatchObject(
          refused(sub),
        )
      }
    }
    await assertMountsHold([mount(folder, '/p', true), mount(`${sub}/${below}`, '/s')])
  },
)

test('a link in a writable folder is found behind one of the user', async () => {
  const { root, folder, sub } = await ground()
  await rm(sub, { recursive: true })
  await symlink(join(root, 'private'), sub)
  await symlink('p/sub/deep', join(root, 'mine'))
  await expect(
    assertMountsHold([mount(folder, '/p'), mount(join(root, 'mine'), '/s', true)]),
  ).rejects.toMatchObject(refused(sub))
})

test('a link is found where the target of one mount lies in that of another', async () => {
  const { root, folder, sub } = await ground()
  await rm(sub, { recursive: true })
  await symlink(join(root, 'private'), sub)
  await expect(
    assertMountsHold([mount(folder, '/p'), mount(join(root, 'private'), '/p/sub/deep')]),
  ).rejects.toMatchObject(refused(sub))
})

test('links in a circle end', async () => {
  const { folder } = await ground()
  await symlink('b', join(folder, 'a'))
  await symlink('a', join(folder, 'b'))
  await expect(assertMountsHold([mount(folder, '/p'), mount(join(folder, 'a'), '/s')])).rejects.toMatchObject(
    refused(join(folder, 'a')),
  )
})
