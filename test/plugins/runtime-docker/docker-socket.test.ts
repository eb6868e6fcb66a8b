import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findDockerSocket } from '../../../plugins/runtime-docker/docker-socket.ts'

const USUAL = '/var/run/docker.sock'

async function settingsWith(settings: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-docker-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'config.json'), settings)
  return folder
}

test.each([
  [{}, USUAL],
  [{ DOCKER_HOST: 'unix:///run/user/1000/docker.sock' }, '/run/user/1000/docker.sock'],
  [{ DOCKER_CONTEXT: 'default' }, USUAL],
  [{ DOCKER_HOST: 'tcp://127.0.0.1:2375' }, undefined],
  [{ DOCKER_HOST: 'ssh://user@host' }, undefined],
  [{ DOCKER_CONTEXT: 'elsewhere' }, undefined],
  [{ DOCKER_HOST: `unix://${USUAL}`, DOCKER_CONTEXT: 'elsewhere' }, undefined],
])('with %j the socket of the engine is %s', async (env, path) => {
  expect(findDockerSocket({ DOCKER_CONFIG: await settingsWith('{}'), ...env })).toBe(path)
})

test.each([
  ['{"currentContext": "elsewhere"}', undefined],
  ['{"currentContext": "default"}', USUAL],
  ['{"currentContext": 1}', USUAL],
  ['not JSON', USUAL],
])('with the settings %s the socket of the engine is %s', async (settings, path) => {
  expect(findDockerSocket({ DOCKER_CONFIG: await settingsWith(settings) })).toBe(path)
})
