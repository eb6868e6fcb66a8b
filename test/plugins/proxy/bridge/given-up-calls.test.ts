import { describe, expect, test } from 'vitest'
import { createPuppet } from './puppet-server.ts'
import { call, rpc, stream } from './raw-client.ts'
import { log, start } from './start-clients.ts'

type Clients = Awaited<ReturnType<typeof start>>
type Client = Awaited<ReturnType<Clients['join']>>

const elicitation = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'elicitation/create',
  params: { message: 'the password of the first client?' },
})

const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }

/** The ways in which a client gives up a call that the server works on. */
const WAYS: Record<string, (client: Client, url: string) => Promise<() => unknown>> = {
  'is cancelled': async ({ headers }, url) => {
    void call(url, rpc(1, 'tools/call'), headers).catch(() => {})
    return () => call(url, cancelled, headers)
  },
  'ends with its session': async ({ headers }, url) => {
    void call(url, rpc(1, 'tools/call'), headers).catch(() => {})
    return () => call(url, undefined, headers, 'DELETE')
  },
  'is hung up by a client without a session': async (_client, url) => {
    const reader = await stream(url, { body: rpc(1, 'tools/call') })
    return () => reader.close()
  },
}

/** Lets the first client give up its call. Gives the id under which the server knows it. */
async function giveUp({ server, url }: Clients, way: string, client: Client): Promise<number> {
  const end = await WAYS[way]?.(client, url)
  const { message } = await server.take('tools/call')
  await end?.()
  await server.take('notifications/cancelled')
  return message.id
}

describe.each(Object.keys(WAYS))('what a server sends about a call that %s', way => {
  test('reaches no other client, also not one that is at work, until the late response', async () => {
    const clients = await start()
    const { server, url, join, mark } = clients
    const [first, other] = [await join({ elicitation: {} }), await join({ elicitation: {} })]
    const id = await giveUp(clients, way, first)
    server.send(log('info', 'a secret of the first client'))
    server.send(elicitation(71))
    expect((await server.take(line => line.message.id === 71)).message.error.code).toBe(-32601)

    const work = call(url, rpc(1, 'tools/call'), other.headers)
    const { message } = await server.take('tools/call')
    server.send(log('info', 'another secret'))
    server.send(elicitation(72))
    expect((await server.take(line => line.message.id === 72)).message.error.code).toBe(-32601)
    expect(await mark(other.reader)).toEqual([[]])

    server.send({ jsonrpc: '2.0', id, result: {} })
    server.send(log('info', 'about the other call'))
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    await work
    expect(await mark(other.reader)).toEqual([[JSON.stringify(log('info', 'about the other call'))]])
  })
})

test('a call that was given up and never gets a response counts only for a time', async () => {
  let time = Date.now()
  const clients = await start({ limits: { givenUpMs: 120_000 }, ttlMs: 3_600_000, now: () => time })
  const [first, other] = [await clients.join(), await clients.join()]
  await giveUp(clients, 'ends with its session', first)
  clients.server.send(log('info', 'too early'))
  expect(await clients.mark(other.reader)).toEqual([[]])
  time += 120_001
  clients.server.send(log('info', 'later'))
  expect(await clients.mark(other.reader)).toEqual([[JSON.stringify(log('info', 'later'))]])
})

test('a call that was given up does not count for the next process of the server', async () => {
  const clients = await start()
  const [first, other] = [await clients.join(), await clients.join()]
  await giveUp(clients, 'ends with its session', first)
  const next = createPuppet()
  clients.server.die()
  await clients.bridge.connect(next.attachment)
  next.send(log('info', 'from the next process'))
  expect((await other.reader.next())?.json).toEqual(log('info', 'from the next process'))
})

test('the next call of the same client gets its messages as ever', async () => {
  const clients = await start()
  const first = await clients.join({ elicitation: {} })
  await giveUp(clients, 'is cancelled', first)
  const reader = await stream(clients.url, { body: rpc(2, 'tools/call'), headers: first.headers })
  await clients.server.take('tools/call')
  clients.server.send(elicitation(73))
  expect((await reader.next())?.json.method).toBe('elicitation/create')
})
