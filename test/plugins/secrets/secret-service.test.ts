import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'
import { needs } from '../../support/left-out.ts'

/** The Secret Service of a desktop (freedesktop.org), unlocked, on a bus of its own. */
async function desktop(context: TestContext): Promise<{ user: KeelsonUser; env: Record<string, string> }> {
  const missing = ['dbus-daemon', 'gnome-keyring-daemon'].filter(
    program => spawnSync(program, ['--version']).error,
  )
  if (missing.length > 0) needs(context, `missing: ${missing} (test/support/engines/setup.sh installs it)`)
  const user = await keelsonUser()
  const runtime = join(user.home, 'run')
  await mkdir(runtime, { mode: 0o700 })
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
    env: { ...user.env, XDG_RUNTIME_DIR: runtime },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(async () => {
    bus.kill('SIGKILL') // the keyring goes with it
    if (bus.exitCode === null) await once(bus, 'exit')
  })
  const [address] = (await once(createInterface({ input: bus.stdout }), 'line')) as [string]
  const env = { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: runtime }
  // Answers once it is open, and stays behind.
  await execa('gnome-keyring-daemon', ['--unlock', '--components=secrets'], {
    env: { ...user.env, ...env },
    extendEnv: false,
    input: 'password of the desktop',
  })
  return { user, env }
}

test('the key lies in the keyring of the desktop, and nothing of it on disk', {
  timeout: 60_000,
}, async context => {
  const { user, env } = await desktop(context)
  expect(await user.run(['secret', 'provider', 'encrypted'], { env })).toMatchObject({ code: 0, stderr: '' })
  await user.run(['secret', 'set', 'token'], { env, input: 'planted-4711' })

  const shown = await user.run(['secret', 'get', 'token'], { env })
  expect(shown).toMatchObject({ code: 0, stdout: 'planted-4711\n' })
  const file = await readFile(join(user.home, '.local/share/keelson/secrets_encrypted'), 'utf8')
  expect(file).not.toContain('planted')

  expect((await user.run(['secret', 'reset-keyring', '--yes'], { env })).code).toBe(0)
  const locked = await user.run(['secret', 'get', 'token'], { env })
  expect(locked).toMatchObject({ code: 1, stdout: '' })
  expect(locked.stderr).toMatch(/^Error: .*key/)
})

test('without the bus of the desktop the failure says where else a key can come from', async () => {
  const user = await keelsonUser()
  const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${user.home}/nobody` }
  const shown = await user.run(['secret', 'provider', 'encrypted', '--key', 'keyring'], { env })
  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toMatch(/^Error: .*keyring/)
  expect(shown.stderr).toContain('KEELSON_SECRETS_PASSWORD')
})
