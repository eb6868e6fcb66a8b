import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readProfile } from '../../../plugins/workloads/profile-flag.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

async function read(profile: unknown) {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'profile.json'), JSON.stringify(profile))
  return { folder, profile: readProfile('profile.json', folder) }
}

test('relative mounts are relative to the current folder', async () => {
  const { folder, profile } = await read({ read: ['data', './a:/in', '/etc/x'], write: ['../out:/out'] })
  expect(await profile).toEqual({
    read: [join(folder, 'data'), `${join(folder, 'a')}:/in`, '/etc/x'],
    write: [`${join(folder, '..', 'out')}:/out`],
  })
})

test.each([{ read: ['volume://v:/in'] }, { write: ['s3://bucket/key:/in'] }])(
  'the resource in %j is refused, and named',
  async given => {
    const { profile } = await read(given)
    await expect(profile).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/profile\.json: (?:read|write)\[0\] ".*" is a resource/),
    })
  },
)

test('the built-in profiles mount nothing', async () => {
  expect(await readProfile('none', '/')).toEqual({ name: 'none', network: { outbound: {} } })
  expect(await readProfile('stdio', '/')).toEqual(await readProfile('none', '/'))
})
