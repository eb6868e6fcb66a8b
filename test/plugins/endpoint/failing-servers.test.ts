import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientV1, textOf } from '../../e2e/clients.ts'
import { type Home, openHome } from '../../e2e/home.ts'
import { startZoo, type Zoo } from './zoo.ts'

let home: Home
let zoo: Zoo
let url: string

beforeAll(async () => {
  home = await openHome()
  zoo = await startZoo()
  for (const name of ['everything', 'asking', 'crooked'])
    await home.ok(['run', zoo.urls[name] ?? '', '--name', name])
  url = (await home.ok(['endpoint', 'create', 'all', '--group', 'default', '--call-timeout', '6s'])).trim()
})
afterAll(async () => {
  await home?.closeRemote()
  await zoo?.close()
})

const echo = { name: 'everything_echo', arguments: { message: 'on' } }

test('a call without a response ends after its time, and is cancelled at its server', async () => {
  const client = await clientV1(url)
  await expect(client.callTool({ name: 'asking_wait' })).rejects.toThrow(
    'The server "asking" cannot be reached: it did not respond within 6 seconds',
  )
  await expect.poll(() => zoo.waiting).toBe(0)
  expect(textOf(await client.callTool(echo))).toContain('on')
})

test('progress gives a call more time', { timeout: 60_000 }, async () => {
  const client = await clientV1(url)
  const long = { name: 'everything_trigger-long-running-operation', arguments: { duration: 9, steps: 9 } }
  const result = await client.callTool(long, undefined, { onprogress: () => undefined })
  expect(textOf(result)).toContain('completed')
})

test('a server that crashes in calls is left alone for a while; calls of others pass', {
  timeout: 90_000,
}, async () => {
  const client = await clientV1(url)
  const say = () => client.callTool({ name: 'crooked_say' }).then(textOf, String)
  expect(await say()).toContain('said')
  zoo.behave('crashes')
  try {
    await expect
      .poll(say, { timeout: 60_000 })
      .toMatch(/did not respond to the last calls; try again in \d+ seconds/)
    expect(textOf(await client.callTool(echo))).toContain('on')
  } finally {
    zoo.behave('well')
  }
  await expect.poll(say, { timeout: 60_000 }).toContain('said')
})

test('the list says which server is missing from it', async () => {
  zoo.behave('lies')
  try {
    // What servers have told another client with the same capabilities is known already.
    const client = await clientV1(url, fresh =>
      fresh.registerCapabilities({ experimental: { [crypto.randomUUID()]: {} } }),
    )
    const { tools, _meta } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('everything_echo')
    expect(_meta).toEqual({ 'keelson/missing': ['crooked'] })
    zoo.behave('well')
    const again = await client.listTools()
    expect(again.tools.map(({ name }) => name)).toContain('crooked_say')
    expect(again._meta).toBeUndefined()
  } finally {
    zoo.behave('well')
  }
})

test('while servers crash, lie and are stopped, every call of the others gets its own response', {
  timeout: 120_000,
}, async () => {
  const clients = await Promise.all(Array.from({ length: 20 }, () => clientV1(url)))
  let isOver = false
  const trouble = (async () => {
    for (const how of ['crashes', 'lies', 'well'] as const) {
      zoo.behave(how)
      await home.ok(['restart', 'crooked'])
    }
  })().finally(() => {
    isOver = true
    zoo.behave('well')
  })
  const say = (client: (typeof clients)[number]) => client.callTool({ name: 'crooked_say' }).catch(() => {})
  const answers = await Promise.all(
    clients.map(async (client, who) => {
      const wrong: string[] = []
      let count = 0
      for (; !isOver || count < 20; count += 1) {
        const message = `client ${who}, call ${count}`
        const [result] = await Promise.all([
          client.callTool({ ...echo, arguments: { message } }),
          say(client),
        ])
        if (textOf(result) !== `Echo: ${message}`) wrong.push(textOf(result))
      }
      return wrong
    }),
  )
  await trouble
  expect(answers.flat()).toEqual([])
})
