import { expect, test } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createBuildSettings } from '../../../plugins/recipes/build-settings.ts'
import { createSettings, type SettingsChange } from '../../../plugins/settings/service.ts'
import { createApp } from '../../../src/app.ts'
import { isFailure } from '../../../src/errors.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SHELL = { KEELSON_SECRETS_PROVIDER: 'environment', KEELSON_SECRET_token: 'hidden', FROM_SHELL: 'shell' }

async function readerOf(change: SettingsChange, { without }: { without?: string } = {}) {
  const paths = findPaths({ HOME: await temporaryFolder() })
  await createSettings({ paths }).change(() => change)
  const log = createLog({ write: () => undefined, human: true, debug: false })
  const entries = builtins.filter(entry => entry.name !== without)
  return createBuildSettings(createApp({ paths, log, env: SHELL, entries }))
}

test('values, secrets and what the shell has are read; the shell wins over secrets, these over values', async () => {
  const reader = await readerOf({
    ca_certificate_path: '/ca.pem',
    build_env: { A: 'plain', B: 'plain', FROM_SHELL: 'plain' },
    build_env_from_secrets: { B: 'token', FROM_SHELL: 'token' },
    build_env_from_shell: ['FROM_SHELL'],
  })
  expect(await reader.caCertificate()).toBe('/ca.pem')
  const { values, secrets } = await reader.variables()
  expect(Object.fromEntries(values)).toEqual({ A: 'plain', B: 'hidden', FROM_SHELL: 'shell' })
  expect(new Set(secrets)).toEqual(new Set(['hidden']))
})

test('a variable that the shell does not have is left out, with a warning', async () => {
  const lines: string[] = []
  const reader = await readerOf({ build_env_from_shell: ['NOT_THERE'] })
  expect((await reader.variables(line => lines.push(line))).values.size).toBe(0)
  expect(lines).toEqual(['warning: NOT_THERE is meant for builds, but is not set in this shell'])
})

test('a secret that is not there fails', async () => {
  const reader = await readerOf({ build_env_from_secrets: { A: 'nowhere' } })
  await expect(reader.variables()).rejects.toThrow('nowhere')
})

test.each([
  ['A; touch /tmp/x', 'v'],
  ['a', 'v'],
  ['A', 'v\0'],
])('variable %j=%j of an edited file is refused', async (name, value) => {
  const reader = await readerOf({ build_env: { [name]: value } })
  await expect(reader.variables()).rejects.toSatisfy(error => isFailure(error, 'recipe_build_env_invalid'))
})

test('without settings there is nothing, and without the plugin for them neither', async () => {
  for (const reader of [
    await readerOf({}),
    await readerOf({ ca_certificate_path: '/ca.pem', build_env: { A: 'b' } }, { without: 'settings' }),
  ]) {
    expect(await reader.caCertificate()).toBeUndefined()
    expect((await reader.variables()).values.size).toBe(0)
  }
})

test('a file with logins that is not among the secrets any more fails, and says what to type', async () => {
  const reader = await readerOf({ build_auth_files: { npmrc: 'BUILD_AUTH_FILE_npmrc' } })
  await expect(reader.variables()).rejects.toMatchObject({
    code: 'recipe_build_auth_missing',
    hint: expect.stringContaining('set-build-auth-file npmrc'),
  })
})

test('a file of the settings that nobody knows is refused: its name would be part of a path', async () => {
  const reader = await readerOf({ build_auth_files: { '../../etc/passwd': 'x' } })
  await expect(reader.variables()).rejects.toMatchObject({ code: 'recipe_build_auth_missing' })
})
