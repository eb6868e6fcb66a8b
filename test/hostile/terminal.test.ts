import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Home, openHome, until } from '../e2e/home.ts'
import { needsPlace } from '../e2e/places-to-run.ts'
import { expectNoOrders, expectTame, HOSTILE, onTerminal } from '../support/hostile/terminal-takeover.ts'

// Words of strangers on a terminal of the user's: registries, servers, skills, remote servers. The program
// is the real one, and so is the terminal.

const fixture = new URL('../../fixtures/hostile', import.meta.url).pathname
let home: Home

beforeAll(async () => {
  home = await openHome()
  const entry = {
    description: HOSTILE,
    image: 'example.invalid/noise:1',
    transport: 'stdio',
    status: 'Active',
    tier: HOSTILE,
    tools: [HOSTILE],
    tags: [HOSTILE],
    args: [HOSTILE],
    repository_url: `https://example.invalid/${HOSTILE}`,
    env_vars: [{ name: 'PLACE', description: HOSTILE, required: true }],
    provenance: { signer_identity: HOSTILE, cert_issuer: HOSTILE },
  }
  const far = { url: 'https://example.invalid/mcp', transport: 'sse', description: HOSTILE, tools: [] }
  const file = join(home.path, 'registry.json')
  const document = {
    version: '1.0.0',
    last_updated: '2026-01-01T00:00:00Z',
    servers: { noise: entry },
    remote_servers: { far },
  }
  await writeFile(file, JSON.stringify(document))
  await home.ok(['config', 'set-registry', file])
})
afterAll(() => home?.close(), 120_000)

describe('an entry of a registry', { timeout: 120_000 }, () => {
  test.each([
    [['search', 'noise']],
    [['registry', 'list']],
    [['registry', 'info', 'noise']],
    [['registry', 'info', 'noise', '--format', 'json']],
  ])('%j', async args => {
    expectTame(await onTerminal(home, args))
  })

  test('is shown without orders where a person is asked for a variable', async () => {
    expectTame(await onTerminal(home, ['run', 'noise', '--name', 'asked'], [['PLACE', '\r']]))
  })
})

test('a skill whose folder says orders is refused in plain text', async () => {
  const folder = join(home.path, 'seen-skill')
  await mkdir(folder)
  const quoted = JSON.stringify(HOSTILE).replaceAll('\\b', '\\u0008')
  await writeFile(join(folder, 'SKILL.md'), `---\nname: ${quoted}\ndescription: ${quoted}\n---\n${HOSTILE}\n`)
  const shown = await onTerminal(home, ['skill', 'validate', folder])
  expect(shown).toContain('error')
  expectTame(`${shown} end`)
})

describe.each(['docker', 'podman'] as const)('a server on %s', { timeout: 240_000 }, place => {
  const name = `terminal-${place}`
  const run = (workload: string, ...more: string[]) => [
    ...['run', '--runtime', place, '--name', workload, '--transport', 'stdio', ...more],
    ...['-e', `NOISE=${HOSTILE}`, '-v', `${fixture}:/srv:ro`, 'keelson-test/node:24'],
    ...['--', 'node', '/srv/noisy-server.mjs'],
  ]

  let running: Promise<string> | undefined
  /** The workload that the tests below look at; the first of them starts it. */
  const isRunning = (): Promise<string> => {
    running ??= home.ok(run(name))
    return running
  }

  test('that ends at once: its last words in the failure', async context => {
    needsPlace(context, place)
    expectTame(await onTerminal(home, run(`${name}-ends`, '-e', 'EXIT=3')))
  })

  test('that runs: its log, its tools, their results and errors', async context => {
    needsPlace(context, place)
    await isRunning()
    const log = () => onTerminal(home, ['logs', name])
    await until(async () => expect(await log()).toContain('purple'))
    const logged = await log()
    expect(logged).toContain('\u001b[35mpurple\u001b[0m')
    expectTame(logged.replaceAll('\u001b[35m', '').replaceAll('\u001b[0m', ''))
    for (const args of [
      ['mcp', 'list', 'tools', '--server', name],
      ['mcp', 'list', 'resources', '--server', name],
      ['mcp', 'list', 'prompts', '--server', name],
      ['mcp', 'call', 'noise', '--server', name],
      ['mcp', 'call', 'noise', '--server', name, '--format', 'json'],
      ['mcp', 'call', 'fails', '--server', name],
    ]) {
      expectTame(await onTerminal(home, args))
    }
  })

  test('that runs: its log goes into a pipe byte for byte with --raw alone', async context => {
    needsPlace(context, place)
    await isRunning()
    await until(async () => expect(await home.ok(['logs', name, '--raw'])).toContain('seen'))
    expect(await home.ok(['logs', name])).not.toContain(HOSTILE) // what a pager behind a pipe would get
    expect(await home.ok(['logs', name, '--raw'])).toContain(HOSTILE)
  })

  test('that failed: its last words in the status', async context => {
    needsPlace(context, place)
    await isRunning()
    await home.ok(['export', name, `${name}.json`])
    await home.keelson(['stop', name])
    const config = JSON.parse(await readFile(join(home.path, `${name}.json`), 'utf8'))
    config.env_vars.EXIT = '3'
    await writeFile(
      join(home.path, '.local/state/keelson/runconfigs', `${name}.json`),
      JSON.stringify(config),
    )
    // On a loaded machine `start` may return before the server ends.
    expectNoOrders(await onTerminal(home, ['start', name]))
    await until(async () => expectTame(await onTerminal(home, ['status', name])))
  })
})
