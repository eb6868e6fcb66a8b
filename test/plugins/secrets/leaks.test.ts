import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { clientV1, textOf } from '../../e2e/clients.ts'
import { type Home, openHome, until } from '../../e2e/home.ts'
import { flagsOf, needsPlace, PLACES, type Place } from '../../e2e/places-to-run.ts'
import { shareToolCaches } from '../../e2e/tool-caches.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { makeSecretsFile } from '../../support/keelson.ts'
import { needs } from '../../support/left-out.ts'
import { main } from '../../support/main.ts'
import { filesWith, processesWith, watchProcesses } from './search.ts'

// Planted values are looked for in every file, process, container and output after a workload that
// uses them was run, stopped, started, exported, failed and lost its supervisor.

const SERVER = 'npx://@modelcontextprotocol/server-everything@2026.8.31'
const plant = () => `planted${randomBytes(12).toString('hex')}`

/** A user with a password file; everything that the program shows is kept. */
async function someone(env: Record<string, string> = {}) {
  const home = await openHome()
  await shareToolCaches(home)
  onTestFinished(() => home.close(), 120_000)
  const password = plant()
  await writeFile(join(home.path, 'password'), password)
  await makeSecretsFile(home.env, env.KEELSON_SECRETS_PASSWORD ?? password)
  const shown: string[] = []
  const keelson = async (...args: string[]) => {
    const result = await home.keelson(args, { env })
    shown.push(result.stdout, result.stderr)
    return result
  }
  const ok = async (...args: string[]) => {
    const result = await keelson(...args)
    expect(result.code, result.stderr).toBe(0)
    return result.stdout
  }
  const set = async (name: string, value: string) => {
    const input = { input: value, env: { ...home.env, ...env }, extendEnv: false }
    const result = await execa(process.execPath, [main, 'secret', 'set', name], input)
    shown.push(result.stdout, result.stderr)
  }
  return { home, password, shown, keelson, ok, set }
}

const placeFlags = (place: Place) => [
  ...flagsOf(place),
  ...(place === 'process' ? ['--isolate-network=false'] : []),
]

/** What the server behind the URL says its environment is. */
async function environmentOf(url: string): Promise<Record<string, string>> {
  const client = await clientV1(url)
  return JSON.parse(textOf(await client.callTool({ name: 'get-env', arguments: {} })))
}

const killSupervisor = async (home: Home) => {
  const pid = await home.supervisor()
  process.kill(pid, 'SIGKILL')
  await until(async () => expect(await home.supervisor()).toBe(0))
}

const ask = (engine: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(engine, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

/** Everything that an engine says of a container but its environment, which it is meant to have. */
const inspectWithoutEnv = (engine: string, name: string): string => {
  const [found] = JSON.parse(ask(engine, 'inspect', name))
  delete found.Config.Env
  return JSON.stringify(found)
}

describe.each(PLACES)('on %s', { timeout: 300_000 }, place => {
  test('a planted value is in the environment of the server and nowhere else', async context => {
    needsPlace(context, place)
    const { home, password, shown, keelson, ok, set } = await someone()
    const [value, later] = [plant(), plant()]
    const name = `leak-${place}-${value.slice(-6)}`
    await ok('secret', 'provider', 'encrypted', '--password-file', join(home.path, 'password'))
    await set('TOKEN', value)
    const watch = watchProcesses(value, later, password)

    const url = await ok(
      'run',
      SERVER,
      '--name',
      name,
      ...placeFlags(place),
      '--secret',
      'TOKEN,target=PLANTED',
      '-e',
      'PLANTED=plain',
    )
    const steady = processesWith(value)

    const exported = join(home.path, 'exported.json')
    await ok('export', name, exported)
    expect(await readFile(exported, 'utf8')).toContain('TOKEN,target=PLANTED')
    for (const args of [
      ['logs', name],
      ['logs', name, '--proxy'],
      ['status', name],
      ['list', '--all', '--format', 'json'],
    ])
      await keelson(...args, '--debug')
    if (place !== 'process') {
      shown.push(inspectWithoutEnv(place, name), ask(place, 'ps', '--no-trunc', '--format', '{{json .}}'))
      const image = JSON.parse(ask(place, 'inspect', name))[0].Image
      shown.push(ask(place, 'history', '--no-trunc', image), ask(place, 'image', 'inspect', image))
    }

    // Only now, since what the server answers is in its log, where its engine keeps one.
    expect((await environmentOf(url)).PLANTED).toBe(value)
    await ok('stop', name)
    await set('TOKEN', later)
    await ok('start', name)
    expect((await environmentOf(url)).PLANTED).toBe(later)

    await killSupervisor(home)
    await ok('list')
    await until(async () => expect((await environmentOf(url)).PLANTED).toBe(later))

    await ok('stop', name)
    await ok('secret', 'delete', 'TOKEN')
    const failed = await keelson('start', name, '--debug')
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no secret "TOKEN"') })
    await ok('rm', name)

    // The server itself, and on the way to it: its sandbox, or the engine's own programs.
    const meant =
      place === 'process'
        ? /server-everything|mcp-server/
        : /^(docker|podman) create |mcp-server|runc|crun|docker-init|catatonit/
    for (const { command, place: where } of watch.stop())
      expect([where, command]).toEqual(['environment', expect.stringMatching(meant)])
    expect(steady.length).toBeGreaterThan(0)
    for (const { command } of steady) expect(command).toMatch(/server-everything|mcp-server/)
    for (const planted of [value, later]) {
      expect(filesWith(planted, [home.path])).toEqual([])
      expect(shown.join('\n')).not.toContain(planted)
    }
    expect(filesWith(password, [home.path])).toEqual([join(home.path, 'password')])
    expect(shown.join('\n')).not.toContain(password)
  })

  test('a password in a variable reaches the supervisor, and nothing that is started', async context => {
    needsPlace(context, place)
    const password = plant()
    const fallback = plant()
    const { home, shown, ok, set } = await someone({
      KEELSON_SECRETS_PASSWORD: password,
      KEELSON_SECRET_OTHER: fallback,
    })
    const name = `leak-${place}-${password.slice(-6)}`
    await ok('secret', 'provider', 'encrypted')
    await set('TOKEN', 'fine')
    const watch = watchProcesses(password)

    const url = await ok(
      'run',
      SERVER,
      '--name',
      name,
      ...placeFlags(place),
      '--secret',
      'TOKEN,target=A',
      '--secret',
      'OTHER,target=B',
    )
    const env = await environmentOf(url)
    expect(env).toMatchObject({ A: 'fine', B: fallback })
    expect(JSON.stringify(env)).not.toContain(password)

    await ok('rm', name)
    const own = ` ${main} ` // whatever stands between it and the name of Node
    for (const found of watch.stop())
      expect(found).toEqual({ place: 'environment', command: expect.stringContaining(own) })
    for (const planted of [password, fallback]) {
      expect(filesWith(planted, [home.path])).toEqual([])
      expect(shown.join('\n')).not.toContain(planted)
    }
  })
})

test('a server that prints its environment and exits is reported without the values', async context => {
  needs(context, engineProblem('docker', 'keelson-test/busybox:1'))
  const { home, shown, keelson, ok, set } = await someone()
  const value = plant()
  await ok('secret', 'provider', 'encrypted', '--password-file', join(home.path, 'password'))
  await set('TOKEN', value)

  const script = 'echo "using $PLANTED"; env >&2; exit 3'
  const shownRun = await keelson(
    ...['run', 'keelson-test/busybox:1', '--runtime', 'docker', '--transport', 'stdio'],
    ...['--name', `leak-dies-${value.slice(-6)}`, '--secret', 'TOKEN,target=PLANTED', '--debug'],
    ...['--', 'sh', '-c', script],
  )

  expect(shownRun.code).toBe(1)
  expect(shownRun.stderr).toMatch(/ended before it was ready[\s\S]*using \[redacted\]/)
  expect(shown.join('\n')).not.toContain(value)
  expect(filesWith(value, [home.path])).toEqual([])
}, 120_000)
