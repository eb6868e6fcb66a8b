import { chmod, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { keelsonUser } from '../support/keelson.ts'
import { needs } from '../support/left-out.ts'
import { main } from '../support/main.ts'

const needsBuild = (context: TestContext) =>
  needs(context, main.endsWith('.js') ? undefined : 'the sources are run, not a build')
const NOT_SHARED = { NODE_COMPILE_CACHE: '' }

test('what is compiled is kept for the next start', async context => {
  needsBuild(context)
  const user = await keelsonUser()
  const folder = join(user.home, '.cache/keelson/compiled')

  expect((await user.run(['version'], { env: NOT_SHARED })).code).toBe(0)
  const [kept = ''] = await readdir(folder)
  expect(await readdir(join(folder, kept))).not.toEqual([])
})

test('where others can write nothing is kept', async context => {
  needsBuild(context)
  const user = await keelsonUser()
  const folder = join(user.home, '.cache/keelson/compiled')
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o777)

  expect(await user.run(['version'], { env: NOT_SHARED })).toMatchObject({ code: 0, stderr: '' })
  expect(await readdir(folder)).toEqual([])
})
