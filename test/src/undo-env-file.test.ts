import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { undoEnvFile } from '../../src/undo-env-file.ts'
import { keelsonUser } from '../support/keelson.ts'
import { main } from '../support/main.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function file(): Promise<string> {
  const path = join(await temporaryFolder(), 'server.env')
  await writeFile(path, 'TOKEN=secret\nHOME=/elsewhere\n')
  return path
}

test('a variable that Node took from the file of --env-file goes, one that was there before stays', async () => {
  const path = await file()
  for (const argv of [['run', 'x', '--env-file', path], [`--env-file=${path}`]]) {
    const env = { TOKEN: 'secret', HOME: '/home/me' }
    undoEnvFile(argv, env, () => new Set(['HOME']))
    expect(env).toEqual({ HOME: '/home/me' })
  }
})

test('where nobody knows what was there before, what is as in the file goes', async () => {
  const env = { TOKEN: 'secret', HOME: '/home/me' }
  undoEnvFile(['--env-file', await file()], env, () => undefined)
  expect(env).toEqual({ HOME: '/home/me' })
})

test('an --env-file of the server itself, and other flags, change nothing', async () => {
  const path = await file()
  for (const argv of [
    ['run', 'x', '--', '--env-file', path],
    ['run', '--env-file-dir', path],
    ['--env-file', '/none'],
  ]) {
    const env = { TOKEN: 'secret' }
    undoEnvFile(argv, env, () => new Set())
    expect(env).toEqual({ TOKEN: 'secret' })
  }
})

test("a server's variables do not choose our runtime, where Node reads the flag too", async () => {
  const user = await keelsonUser()
  const shown = async (args: readonly string[]) =>
    (await execa(process.execPath, [main, ...args], { env: user.env, extendEnv: false, reject: false }))
      .stderr
  const path = join(user.home, 'server.env')
  await writeFile(path, 'KEELSON_RUNTIME=there-is-none\n')
  expect(await shown(['run', 'busybox', '--env-file', path, '--runtime', 'neither'])).toContain('"neither"')
  expect(await shown(['run', 'Not/An/Image', '--env-file', path])).not.toContain('there-is-none')
})
