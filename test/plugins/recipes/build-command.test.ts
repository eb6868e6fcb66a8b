import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'

test('--dry-run prints the Dockerfile and needs no engine', async () => {
  const user = await keelsonUser()
  const { code, stdout } = await user.run(
    ['build', '--dry-run', '--runtime-image=node:22', 'npx://name@1.0.0', '--', '--flag', "it's"],
    { env: { KEELSON_RUNTIME: 'there-is-none' } },
  )
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^FROM node:22 AS tools\n[\s\S]*\nRUN --network=none [\s\S]*\nENTRYPOINT \["\/app\/mcp-server","--flag","it's"\]\n$/,
  )
})

test('--output writes it, readable by its owner alone', async () => {
  const user = await keelsonUser()
  expect(await user.run(['build', '-o', 'Made', 'uvx://name@1.0'])).toMatchObject({ code: 0, stdout: '' })
  expect(await readFile(join(user.home, 'Made'), 'utf8')).toMatch(/^FROM python:/)
})

test('a local Go path counts from the working folder', async () => {
  const user = await keelsonUser()
  await mkdir(join(user.home, 'server'))
  await writeFile(join(user.home, 'server/go.mod'), 'module example.test/x\n')
  const { code, stdout } = await user.run(['build', '--dry-run', 'go://./server'])
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('COPY source/ ') })
})

test.each([
  [['build'], 2],
  [['build', 'busybox'], 2],
  [['build', 'npx://'], 2],
  [['build', 'npx://Bad Name'], 2],
  [['build', '--no-such-flag', 'npx://name@1.0.0'], 2],
  [['build', '--build-with', 'mcp<2', 'npx://name@1.0.0'], 2],
  [['build', '--ca-cert', '/there/is/none', 'npx://name@1.0.0'], 1],
])('%j is refused in one line', async (args, code) => {
  const user = await keelsonUser()
  const shown = await user.run(args)
  expect(shown).toMatchObject({ code, stdout: '' })
  expect(shown.stderr).toMatch(/^Error: .+/)
  expect(shown.stderr).not.toMatch(/\n {4}at /)
})
