import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'

// Each starts the program, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const LEGACY = JSON.stringify({
  version: '1.0.0',
  last_updated: '2026-01-01T00:00:00Z',
  servers: {
    a: {
      image: 'example/a:1',
      transport: 'stdio',
      description: 'Does a',
      status: 'Active',
      tier: 'Community',
      tools: ['x'],
      tags: ['one'],
    },
  },
  remote_servers: {
    b: { url: 'https://b.example/mcp', transport: 'sse', description: 'Does b', status: 'Active' },
  },
})

async function userWithFile(text = LEGACY) {
  const user = await keelsonUser()
  const path = join(user.home, 'r.json')
  await writeFile(path, text)
  return { user, path }
}

test('list and info show the built-in catalogue', async () => {
  const user = await keelsonUser()

  const list = await user.run(['registry', 'list'])
  expect(list.stdout).toMatch(/^NAME +TYPE +DESCRIPTION +TIER +STARS\n/)
  expect(list.stdout).toMatch(/^fetch +container +Fetches web pages/m)
  const alias = await user.run(['registry', 'ls', '--format', 'json'])
  const names = JSON.parse(alias.stdout).map((one: { name: string }) => one.name)
  expect(names).toEqual([...names].sort())

  const info = await user.run(['registry', 'info', 'github'])
  expect(info.stdout).toContain('GITHUB_PERSONAL_ACCESS_TOKEN (required, secret)')
  const json = await user.run(['registry', 'info', 'io.github.stacklok/github', '--format', 'json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    image: expect.stringContaining('ghcr.io/github/'),
    tier: 'Official',
  })
})

test('an unknown server is an error that suggests', async () => {
  const user = await keelsonUser()

  const shown = await user.run(['registry', 'info', 'fetchh'])

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain('Did you mean fetch')
})

test('search prints JSON even when it finds nothing', async () => {
  const user = await keelsonUser()

  expect((await user.run(['search', 'qqqqqq', '--format', 'json'])).stdout).toBe('[]\n')
  const text = await user.run(['search', 'qqqqqq'])
  expect(text).toMatchObject({ code: 0, stdout: 'No server matches "qqqqqq".\n' })
  const found = await user.run(['search', 'databse', '--format', 'json'])
  expect(JSON.parse(found.stdout).length).toBeGreaterThan(2)
})

test('the built-in catalogue is consistent; a file that is not fails with all problems', async () => {
  const { user, path } = await userWithFile()

  expect((await user.run(['registry', 'verify-catalogue'])).code).toBe(0)
  const shown = await user.run(['registry', 'verify-catalogue', path])
  expect(shown.code).toBe(1)
  expect(shown.stderr).toContain('permissions do not mention the network')
  expect(shown.stderr).toContain('no tier')
})

test('convert reads standard input and writes standard output', async () => {
  const user = await keelsonUser()

  const shown = await user.run(['registry', 'convert'], { input: LEGACY })

  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(shown.stdout).data.servers.map((one: { name: string }) => one.name)).toEqual([
    'io.github.stacklok/a',
    'io.github.stacklok/b',
  ])
})

test('convert in place keeps a backup and the mode', async () => {
  const { user, path } = await userWithFile()
  await chmod(path, 0o640)

  const shown = await user.run(['registry', 'convert', '--in', path, '--in-place'])

  expect(shown).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await readFile(`${path}.bak`, 'utf8')).toBe(LEGACY)
  expect(JSON.parse(await readFile(path, 'utf8'))).toHaveProperty('data.servers')
  expect((await stat(path)).mode & 0o777).toBe(0o640)
})

test('what is converted already is left alone, with a note', async () => {
  const { user, path } = await userWithFile()
  await user.run(['registry', 'convert', '--in', path, '--in-place', '--no-backup'])
  const before = await readFile(path, 'utf8')

  const shown = await user.run(['registry', 'convert', '--in', path, '--in-place'])

  expect(shown).toMatchObject({ code: 0, stdout: '' })
  expect(shown.stderr).toContain('already')
  expect(await readFile(path, 'utf8')).toBe(before)
  await expect(stat(`${path}.bak`)).rejects.toThrow()
})

test('an older backup is never overwritten', async () => {
  const { user, path } = await userWithFile()
  await writeFile(`${path}.bak`, 'precious')

  const shown = await user.run(['registry', 'convert', '--in', path, '--in-place'])

  expect(shown.code).not.toBe(0)
  expect(shown.stderr).toContain('already there')
  expect(await readFile(`${path}.bak`, 'utf8')).toBe('precious')
  expect(await readFile(path, 'utf8')).toBe(LEGACY)
})

test.each([
  [['--in-place'], '--in-place needs --in'],
  [['--in', 'r.json', '--in-place', '--out', 'x.json'], 'exclude each other'],
  [['--in', 'r.json', '--no-backup'], '--no-backup goes only with --in-place'],
  [['--in', 'missing.json'], 'does not exist'],
])('convert %j is refused', async (flags, text) => {
  const { user } = await userWithFile()

  const shown = await user.run(['registry', 'convert', ...flags])

  expect(shown.code).not.toBe(0)
  expect(shown.stdout).toBe('')
  expect(shown.stderr).toContain(text)
})

test('what cannot be converted is reported with its place, and nothing is written', async () => {
  const text = '{"version": "1.0.0", "servers": {\n  "a": {"image": 5}}}'
  const { user, path } = await userWithFile(text)

  const shown = await user.run(['registry', 'convert', '--in', path, '--in-place'])

  expect(shown.code).toBe(1)
  expect(shown.stderr).toContain('servers.a.image (line 2, column 18): expected a string')
  expect(await readFile(path, 'utf8')).toBe(text)
  await expect(stat(`${path}.bak`)).rejects.toThrow()
})
