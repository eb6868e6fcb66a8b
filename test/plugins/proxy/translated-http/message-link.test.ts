import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../../../plugins/proxy/bridge/bridge-limits.ts'
import { createServerFlow } from '../../../../plugins/proxy/bridge/clients/flow-control.ts'
import { createConnection } from '../../../../plugins/proxy/bridge/server/connection.ts'
import { createMessageLink } from '../../../../plugins/proxy/translated-http/message-link.ts'

const message = `{"jsonrpc":"2.0","method":"m","params":{"text":"${'x'.repeat(20)}"}}`

function connect(limits: { maxQueuedBytes?: number } = {}) {
  const flow = createServerFlow({ limits: DEFAULT_LIMITS, now: Date.now })
  const taken: (() => void)[] = []
  const received: string[] = []
  const gone: string[] = []
  const server = createMessageLink({
    onMessage: () => new Promise(resolve => taken.push(resolve)),
    onClose() {},
  })
  const connection = createConnection({
    limits: { ...DEFAULT_LIMITS, requestTimeoutMs: 1000, ...limits },
    flow,
    onMessage: text => received.push(text),
    onOversize() {},
    onGone: reason => gone.push(reason),
  })
  connection.open(server.link)
  return { flow, server, connection, taken, received, gone }
}

test('beyond the limit nothing is sent until the server has responded to others', async () => {
  const { connection, taken } = connect({ maxQueuedBytes: message.length })
  expect([1, 2, 3].map(() => connection.write(message))).toEqual([true, true, false])
  expect(taken).toHaveLength(2)
  expect(connection.queued).toBe(2 * message.length)
  taken[0]?.()
  await expect.poll(() => connection.write(message)).toBe(true)
  for (const done of taken) done()
  await expect.poll(() => connection.queued).toBe(0)
})

test('a client that is behind holds back what the server sends, in order', async () => {
  const { flow, server, received } = connect()
  const slow = { onStalled() {} }
  const client = flow.of('client')
  await server.emit('1')
  client.behind(slow)
  let isDelivered = false
  const later = server
    .emit('2')
    .then(() => server.emit('3'))
    .then(() => {
      isDelivered = true
    })
  await new Promise(resolve => setImmediate(resolve))
  expect([received, isDelivered]).toEqual([['1'], false])
  client.caughtUp(slow)
  await later
  expect(received).toEqual(['1', '2', '3'])
})

test('after the end nothing is delivered, and whoever waits goes on', async () => {
  const { flow, server, connection, received, gone } = connect()
  flow.of('client').behind({ onStalled() {} })
  const held = server.emit('1')
  server.end('its stream ended')
  await held
  await server.emit('2')
  expect([received, gone, connection.problem]).toEqual([[], ['its stream ended'], 'its stream ended'])
})
