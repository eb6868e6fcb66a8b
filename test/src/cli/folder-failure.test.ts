import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { main } from '../../support/main.ts'

test.each([
  ['group', 'create', 'work'],
  ['secret', 'provider', 'environment'],
])('%s %s names a HOME that cannot hold folders', { timeout: 60_000 }, async (...args) => {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'file')
  await writeFile(file, '')
  const { exitCode, stderr } = await execa(process.execPath, ['--', main, ...args], {
    env: { HOME: file, PATH: process.env.PATH },
    extendEnv: false,
    reject: false,
  })
  expect(exitCode).toBe(1)
  expect(stderr).toContain('a part of that path is a file, where a folder should be.')
  expect(stderr).toContain(`HOME is ${file}.`)
  expect(stderr).not.toContain('defect')
})

test.each(['list', 'version'])(
  '%s ends at once where HOME is in /proc',
  { timeout: 60_000 },
  async command => {
    const { exitCode, stderr } = await execa(process.execPath, ['--', main, command], {
      env: { HOME: '/proc/1/nobody', PATH: process.env.PATH },
      extendEnv: false,
      reject: false,
      timeout: 30_000,
    })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('folders cannot be made in /proc.')
    expect(stderr).toContain('HOME is /proc/1/nobody.')
  },
)
