import { spawnSync } from 'node:child_process'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { type Answer, call, open, rpc, stream } from '../plugins/proxy/bridge/raw-client.ts'
import { type Home, openHome, until } from './home.ts'
import { needsPlace } from './places-to-run.ts'

// What becomes of the calls of clients with sessions at a server of 2026-07-28 when somebody is killed.
let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.close(), 120_000)

const root = new URL('../..', import.meta.url).pathname

/** Runs a server that notes which calls it has begun or ended, and connects a client. */
async function start(context: TestContext, name: string) {
  needsPlace(context, 'docker')
  const notes = join(home.path, name)
  await mkdir(notes)
  await chmod(notes, 0o777)
  const url = await home.ok([
    ...['run', '--runtime', 'docker', '--name', name, '--transport', 'stdio'],
    ...['-v', `${root}:/srv:ro`, '-v', `${notes}:/notes`],
    ...['keelson-test/node:24', '--', 'node', '/srv/fixtures/stdio-servers/notes-calls.ts'],
  ])
  const reopen = () => open(url, { elicitation: {} }, '2025-11-25')
  const client = await reopen()
  const noted = () => readFile(join(notes, 'log'), 'utf8').catch(() => '')
  const begin = (tool: string, label: string, { headers } = client) =>
    stream(url, { body: rpc(label, 'tools/call', { name: tool, arguments: { label } }), headers })
  const respond = (id: unknown, { headers } = client): Promise<Answer> =>
    call(url, { jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'ada' } } }, headers)
  /** Makes a call and responds to all that it asks for. */
  async function complete(label: string, who = client) {
    const reader = await begin('ask', label, who)
    for (let round = 0; round < 2; round++) await respond((await reader.next())?.json.id, who)
    return (await reader.rest()).at(-1)?.json
  }
  return { url, client, noted, begin, respond, complete, join: reopen }
}

/** Opens a session as soon as the server can be reached. */
const reopened = (join: () => ReturnType<typeof open>) =>
  until(async () => {
    const client = await join()
    expect(client.result?.capabilities).toBeDefined()
    return client
  })

test('a supervisor that is killed between two rounds: the call ends, and is not repeated', {
  timeout: 120_000,
}, async context => {
  const { begin, respond, noted, complete, join } = await start(context, 'supervisor')
  const reader = await begin('ask', 'first')
  const { id } = (await reader.next())?.json ?? {}
  const supervisor = await home.supervisor()
  process.kill(supervisor, 'SIGKILL')
  expect(await reader.rest()).toEqual([])
  await until(async () => expect([0, supervisor]).not.toContain(await home.supervisor()))
  const client = await reopened(join)
  const { status, json } = await respond(id)
  expect(status).toBe(404)
  expect(json.error.message).toContain('ession')
  expect((await complete('second', client))?.result.content[0].text).toBe('done second')
  expect(await noted()).toBe('done second\n')
})

test('a server that is killed between two rounds: the next one goes on, and the call is executed once', {
  timeout: 120_000,
}, async context => {
  const { url, client, begin, respond, noted } = await start(context, 'between')
  const reader = await begin('ask', 'first')
  const { id } = (await reader.next())?.json ?? {}
  spawnSync('docker', ['kill', 'between'])
  const listed = () => call(url, rpc('list', 'tools/list'), client.headers)
  await until(async () => expect((await listed()).json.result.tools).toHaveLength(2))
  await respond(id)
  await respond((await reader.next())?.json.id)
  expect((await reader.rest()).at(-1)?.json.result.content[0].text).toBe('done first')
  expect(await noted()).toBe('done first\n')
})

test('a server that is killed while it holds a call: the call ends with an error, and is not repeated', {
  timeout: 120_000,
}, async context => {
  const { begin, noted, complete, join } = await start(context, 'holding')
  const reader = await begin('hold', 'first')
  await until(async () => expect(await noted()).toBe('begun first\n'))
  spawnSync('docker', ['kill', 'holding'])
  expect((await reader.rest()).at(-1)?.json).toMatchObject({
    id: 'first',
    error: { message: expect.any(String) },
  })
  const client = await reopened(join)
  expect((await complete('second', client))?.result.content[0].text).toBe('done second')
  expect(await noted()).toBe('begun first\ndone second\n')
})

test('a client that leaves between two rounds: nothing is repeated, and others go on', {
  timeout: 120_000,
}, async context => {
  const { url, begin, noted, complete, join } = await start(context, 'leaving')
  const client = await join()
  const reader = await begin('ask', 'first', client)
  await reader.next()
  reader.close()
  await call(url, undefined, client.headers, 'DELETE')
  expect((await complete('second'))?.result.content[0].text).toBe('done second')
  expect(await noted()).toBe('done second\n')
})
