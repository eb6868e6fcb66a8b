import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'

/** A user whose secrets a password opens that is kept nowhere, with a session folder. */
async function sessionUser() {
  const user = await keelsonUser()
  await writeFile(join(user.home, 'password'), 'correct horse')
  const session = join(user.home, 'session')
  await mkdir(session, { mode: 0o700 })
  const env = { XDG_RUNTIME_DIR: session }
  const withPassword = { ...env, KEELSON_SECRETS_PASSWORD: 'correct horse' }
  await user.run(['secret', 'provider', 'encrypted', '--key', 'password'], { env: withPassword })
  await user.run(['secret', 'set', 'TOKEN'], { env: withPassword, input: 'planted' })
  return { user, env, kept: join(session, 'keelson/secrets.password') }
}

test('a password that is typed once opens the secrets until it is locked again', async () => {
  const { user, env, kept } = await sessionUser()
  expect(await user.run(['secret', 'get', 'TOKEN'], { env })).toMatchObject({ code: 1, stdout: '' })

  const unlocked = await user.run(['secret', 'unlock'], { env, input: 'correct horse\n' })
  expect(unlocked).toMatchObject({ code: 0, stdout: '' })
  expect(await user.run(['secret', 'get', 'TOKEN'], { env })).toMatchObject({ code: 0, stdout: 'planted\n' })
  expect((await stat(kept)).mode & 0o777).toBe(0o600)

  expect(await user.run(['secret', 'lock'], { env })).toMatchObject({ code: 0, stderr: '' })
  expect(await user.run(['secret', 'get', 'TOKEN'], { env })).toMatchObject({ code: 1, stdout: '' })
  expect((await user.run(['secret', 'lock'], { env })).stderr).toBe('No password was kept.\n')
})

test('a wrong password is not kept', async () => {
  const { user, env, kept } = await sessionUser()
  const { code, stderr } = await user.run(['secret', 'unlock'], { env, input: 'wrong horse' })
  expect(code).toBe(1)
  expect(stderr).toContain('the password is wrong')
  await expect(readFile(kept)).rejects.toThrow('ENOENT')
})

test('without a folder that ends with the session no password is kept', async () => {
  const { user } = await sessionUser()
  const { code, stderr } = await user.run(['secret', 'unlock'], {
    env: { XDG_RUNTIME_DIR: '' },
    input: 'correct horse',
  })
  expect(code).toBe(1)
  expect(stderr).toContain('XDG_RUNTIME_DIR is not set')
})

test('where a password file opens the secrets, nothing has to be unlocked', async () => {
  const { user, env } = await sessionUser()
  await user.run(['secret', 'provider', 'encrypted', '--password-file', 'password'], { env })
  const { code, stderr } = await user.run(['secret', 'unlock'], { env, input: 'correct horse' })
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'No password has to be typed for the secrets here.\n',
  })
})
