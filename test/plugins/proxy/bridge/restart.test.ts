import { describe, expect, test } from 'vitest'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

describe('when the server process ends', () => {
  test('requests in flight get an error that says so', async () => {
    const server = createPuppet()
    const { url, bridge } = await startBridge({
      attachment: server.attachment,
      waitMs: 20,
    })
    const a = await open(url)
    const json = call(url, rpc(1, 'tools/call'), a.headers)
    const sse = await stream(url, { body: rpc('two', 'tools/call'), headers: a.headers })
    await server.take('tools/call')
    await server.take('tools/call')
    server.die({ code: 3 })
    expect(await json).toMatchObject({ status: 502, json: { id: 1, error: { code: -32000 } } })
    expect((await sse.rest()).map(event => event.json)).toMatchObject([
      { id: 'two', error: { code: -32000 } },
    ])
    expect(bridge.health()).toEqual({ status: 'unhealthy', error: 'the server ended with exit code 3' })
    const late = await call(url, rpc(3, 'tools/call'), a.headers)
    expect(late).toMatchObject({ status: 503, json: { id: 3 } })
    expect(late.headers['retry-after']).toBe('2')
  })

  test('its last words still arrive', async () => {
    const server = createPuppet()
    const { url } = await startBridge({ attachment: server.attachment })
    const a = await open(url)
    const answer = call(url, rpc(1, 'tools/call'), a.headers)
    const { message } = await server.take('tools/call')
    server.raw(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: 'bye' }))
    server.die()
    expect((await answer).json.result).toBe('bye')
  })

  test('sessions continue with a new one: initialised, subscribed and set as before; waiting requests go on', async () => {
    const first = createPuppet()
    const { url, bridge } = await startBridge({ attachment: first.attachment })
    const a = await open(url, { sampling: {} })
    const reader = await stream(url, { headers: a.headers })
    for (const [method, params] of [
      ['resources/subscribe', { uri: 'a://1' }],
      ['logging/setLevel', { level: 'info' }],
    ] as const) {
      const answer = call(url, rpc(1, method, params), a.headers)
      first.send({ jsonrpc: '2.0', id: (await first.take(method)).message.id, result: {} })
      await answer
    }
    first.send({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: {} })
    const asked = await reader.next()
    first.die()
    expect((await reader.next())?.json).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: asked?.json.id },
    })
    const waiting = call(url, rpc(2, 'tools/call'), a.headers)
    const second = createPuppet()
    await bridge.connect(second.attachment)
    const initialize = await second.take('initialize')
    expect(initialize.message.params).toEqual((await first.take('initialize')).message.params)
    await second.take('notifications/initialized')
    expect((await second.take('resources/subscribe')).message.params).toEqual({ uri: 'a://1' })
    expect((await second.take('logging/setLevel')).message.params).toEqual({ level: 'info' })
    const { message } = await second.take('tools/call')
    second.send({ jsonrpc: '2.0', id: message.id, result: 'again' })
    expect((await waiting).json).toEqual({ jsonrpc: '2.0', id: 2, result: 'again' })
    second.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a://1' } })
    expect((await reader.next())?.json.params.uri).toBe('a://1')
    // An answer to what the old process asked must not reach the new one.
    await call(url, { jsonrpc: '2.0', id: asked?.json.id, result: {} }, a.headers)
    await call(url, { jsonrpc: '2.0', method: 'notifications/flush' }, a.headers)
    await second.take('notifications/flush')
    expect(second.lines.filter(line => 'result' in line.message)).toEqual([])
  })

  test('if the new one refuses to be initialised, sessions end and clients begin anew', async () => {
    const first = createPuppet()
    const { url, bridge } = await startBridge({ attachment: first.attachment })
    const a = await open(url)
    first.die()
    const second = createPuppet({ initialize: false })
    await bridge.connect(second.attachment)
    const { message } = await second.take('initialize')
    second.send({ jsonrpc: '2.0', id: message.id, error: { code: -32603, message: 'no' } })
    await expect.poll(async () => (await call(url, rpc(1, 'x'), a.headers)).status).toBe(404)
    const again = call(url, rpc(1, 'initialize', {}))
    second.send({ jsonrpc: '2.0', id: (await second.take('initialize')).message.id, result: {} })
    expect((await again).status).toBe(200)
  })

  test('an initialize on its way fails, the next one succeeds', async () => {
    const first = createPuppet({ initialize: false })
    const { url, bridge } = await startBridge({ attachment: first.attachment })
    const failed = call(url, rpc(1, 'initialize', {}))
    await first.take('initialize')
    first.die()
    expect((await failed).status).toBe(502)
    await bridge.connect(createPuppet().attachment)
    expect((await call(url, rpc(1, 'initialize', {}))).status).toBe(200)
  })

  test('disconnect says why', async () => {
    const { url, bridge } = await startBridge({
      attachment: createPuppet().attachment,
      waitMs: 10,
    })
    bridge.disconnect('the workload is being updated')
    expect((await call(url, rpc(1, 'initialize', {}))).json.error.message).toContain(
      'the workload is being updated',
    )
  })
})
