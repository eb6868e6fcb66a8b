import type { IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc, send } from './raw-client.ts'
import { spawnFixture } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

const BOTH = { accept: 'application/json, text/event-stream' }
const COUNT = 50_000
/** Far less than a burst, so that a client gets all of it only while the server is read slower. */
const limits = { maxEventBytes: 1_000_000, maxTotalEventBytes: 2_000_000, maxBehindBytes: 100_000 }

const start = (options: Parameters<typeof startBridge>[0] = {}) =>
  startBridge({ attachment: spawnFixture('bursts').attachment, limits, ...options })

const burst = (method: string, count = COUNT) => rpc('last', 'tools/call', { method, count })

/** The numbers of the notifications in a text of events. */
const numbersIn = (text: string): number[] => [...text.matchAll(/"n":(\d+)/g)].map(found => Number(found[1]))
const all = (count = COUNT) => Array.from({ length: count }, (_, n) => n)

/** Turns of the event loop for each chunk that a client reads, so that the server is faster than it. */
const TURNS = 50

/** Reads a stream steadily until its end, or the end of what is looked for. */
async function read(response: IncomingMessage, isEnough = (_text: string) => false): Promise<string> {
  const chunks: string[] = []
  for await (const chunk of response) {
    chunks.push(String(chunk))
    if (isEnough(chunks.slice(-2).join(''))) break
    for (let n = 0; n < TURNS; n++) await turn()
  }
  return chunks.join('')
}

test('a burst within a call reaches a client that reads, whole and in order', async () => {
  const { url, log } = await start()
  const { headers } = await open(url)
  const text = await read(
    await send(url, { body: burst('notifications/message'), headers: { ...headers, ...BOTH } }),
  )
  expect(numbersIn(text)).toEqual(all())
  expect(text.trimEnd().split('\n\n').at(-1)).toContain('"result":{"well":true}')
  expect(log.join('')).not.toContain('dropped')
})

test('the same without a session', async () => {
  const { url } = await start()
  const text = await read(await send(url, { body: burst('notifications/message'), headers: BOTH }))
  expect(numbersIn(text)).toEqual(all())
})

test('the same over HTTP+SSE, whose session goes on', async () => {
  const { origin } = await start({ mode: 'sse' })
  const events = await send(`${origin}/sse`, { method: 'GET', headers: { accept: 'text/event-stream' } })
  const first = await new Promise<string>(resolve => events.once('data', chunk => resolve(String(chunk))))
  const endpoint = /data: (\S+)/.exec(first)?.[1] ?? ''
  const initialize = { protocolVersion: '2024-11-05', capabilities: {} }
  await call(endpoint, rpc('init', 'initialize', initialize))
  await call(endpoint, burst('notifications/message'))
  const text = await read(events, part => part.includes('"well"'))
  expect(numbersIn(text)).toEqual(all())
})

test('a client that does not read delays the others for a moment, and loses its stream', async () => {
  const count = 20_000
  const { url, log } = await start({ limits: { ...limits, stallMs: 300 } })
  const [reading, stalled] = [await open(url), await open(url)]
  const listen = (headers: Record<string, string>) =>
    send(url, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })
  const unread = await listen(stalled.headers)
  unread.pause()
  const closed = new Promise(resolve => unread.once('close', resolve))
  unread.on('error', () => {})
  const events = await listen(reading.headers)
  const method = 'notifications/tools/list_changed'
  const answer = call(url, burst(method, count), { ...reading.headers, accept: 'application/json' })
  const text = await read(events, part => part.includes(`"n":${count - 1},`))
  expect(numbersIn(text)).toEqual(all(count))
  expect((await answer).json.result).toEqual({ well: true })
  expect(log.join('')).toContain('a message was dropped')
  unread.resume()
  await closed
})

test('a call without a session whose client does not read is cancelled', async () => {
  const server = createPuppet()
  const { url } = await startBridge({ attachment: server.attachment, limits: { ...limits, stallMs: 50 } })
  const response = send(url, { body: rpc(1, 'tools/call'), headers: BOTH })
  const { message } = await server.take('tools/call')
  const params = { level: 'info', data: 'x'.repeat(100_000) }
  for (let n = 0; n < 200; n++) server.send({ jsonrpc: '2.0', method: 'notifications/message', params })
  const unread = await response
  unread.on('error', () => {}).pause()
  expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(message.id)
})
