import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientV1, textOf } from '../../e2e/clients.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { makeSecretsFile } from '../../support/keelson.ts'
import { needs } from '../../support/left-out.ts'
import { main } from '../../support/main.ts'
import { filesWith, watchProcesses } from '../secrets/search.ts'
import { openWorld, type World } from './world.ts'

const problem = engineProblem('docker', 'keelson-test/node:24')
let world: World

beforeAll(async () => {
  if (!problem) world = await openWorld()
})
afterAll(() => world?.close(), 180_000)

const inspect = (containers: readonly string[]): { Config: { Env?: string[] } }[] =>
  JSON.parse(spawnSync('docker', ['inspect', ...containers], { encoding: 'utf8' }).stdout)

test('a secret that the newer version needs is in its environment and nowhere else', {
  timeout: 480_000,
}, async context => {
  needs(context, problem)
  const { home } = world
  const name = `secret-${process.pid}`
  const value = `planted${randomBytes(12).toString('hex')}`
  const password = join(home.path, 'password')
  const words = randomBytes(12).toString('hex')
  await writeFile(password, words)
  await makeSecretsFile(home.env, words)
  await world.push('1.0.0')
  await world.push('2.0.0')
  await world.push('3.0.0', 'exits')
  await world.offer('1.0.0')
  await home.ok(['secret', 'provider', 'encrypted', '--password-file', password])
  const input = { input: value, env: home.env, extendEnv: false }
  await execa(process.execPath, [main, 'secret', 'set', 'GREETING_OF_MINE'], input)
  const url = await home.ok([
    'run',
    'clock',
    '--name',
    name,
    '--runtime',
    'docker',
    '--image-verification',
    'disabled',
  ])
  const shown: string[] = []
  const watching = watchProcesses(value)
  const apply = async (...more: string[]) => {
    const result = await home.keelson(['upgrade', 'apply', name, '--debug', ...more])
    shown.push(result.stdout, result.stderr)
    return result
  }
  const needed = { env_vars: [{ name: 'GREETING', required: true, secret: true }] }

  await world.offer('2.0.0', needed)
  const clear = await apply('-e', `GREETING=${value.slice(0, 8)}`)
  expect(clear).toMatchObject({ code: 2, stdout: '' })
  expect(clear.stderr).toContain('keelson secret set')
  const unknown = await apply('--secret', 'NOT_THERE,target=GREETING')
  expect(unknown).toMatchObject({ code: 1, stdout: '' })
  expect(unknown.stderr).toContain('NOT_THERE')
  expect((await apply('--secret', 'GREETING_OF_MINE,target=GREETING')).code).toBe(0)
  await world.offer('3.0.0', needed)
  expect((await apply()).code).toBe(1)

  const client = await clientV1(url)
  expect(textOf(await client.callTool({ name: 'version' }))).toBe(`2.0.0 ${value}`)
  for (const args of [
    ['logs', name, '--proxy'],
    ['list', '--format', 'json'],
    ['status', name],
  ]) {
    shown.push(await home.ok(args))
  }
  await home.ok(['export', name, join(home.path, 'exported.json')])
  expect((await world.config(name)).secrets).toEqual(['GREETING_OF_MINE,target=GREETING'])
  expect(shown.join('\n')).not.toContain(value)
  expect(filesWith(value, [home.path, world.registry.folder])).toEqual([])
  const [own = ''] = await world.containers(name)
  const everyone = spawnSync('docker', ['ps', '--all', '--format', '{{.Names}}'], { encoding: 'utf8' }).stdout
  const others = everyone.split('\n').filter(other => other && other !== own)
  if (others.length) expect(JSON.stringify(inspect(others))).not.toContain(value)
  const [
    {
      Config: { Env = [], ...rest },
    } = { Config: {} },
  ] = inspect([own])
  expect(Env).toContain(`GREETING=${value}`)
  expect(JSON.stringify(rest)).not.toContain(value)
  for (const { command, place } of watching.stop()) {
    expect([place, command]).toEqual([
      'environment',
      expect.stringMatching(/^docker create |server\.mjs|runc|docker-init/),
    ])
  }
  await home.ok(['rm', name])
})
