import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFairShare } from '../../../plugins/proxy/fair-share.ts'
import { call, open, rpc } from './bridge/raw-client.ts'
import { start } from './bridge/start-clients.ts'
import { startStatelessServer } from './stateless-http/stateless-server.ts'
import { testProxy, until } from './test-proxy.ts'

/** Takes all that this holder gets, and says how many these are. */
function takeAll(share: ReturnType<typeof createFairShare>, holder: string | undefined): number {
  let taken = 0
  while (share.take(holder)) taken += 1
  return taken
}

test('the first caller gets half, the next ones half of what is left; the proxy itself gets the rest', () => {
  const share = createFairShare(1000)
  expect(['a', 'b', 'c'].map(holder => takeAll(share, holder))).toEqual([500, 250, 125])
  share.give('a')
  expect(share.take('a')).toBe(false)
  expect(share.take('b')).toBe(false)
  expect(share.take('c')).toBe(true)
  expect(takeAll(share, undefined)).toBe(125)
  expect(share.take('d')).toBe(false)
})

test('who holds all that it may can still take nothing', () => {
  const share = createFairShare(2)
  expect(share.take('a')).toBe(true)
  expect(share.take('a')).toBe(false)
  expect(share.take('a', 0)).toBe(true)
})

test('a single place can be taken, and many at once only where each of them could be', () => {
  expect(createFairShare(1).take('a')).toBe(true)
  const holder = fc.constantFrom('a', 'b', undefined)
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40 }),
      fc.array(holder),
      holder,
      fc.nat(9),
      (max, before, who, n) => {
        const [share, same] = [createFairShare(max), createFairShare(max)]
        for (const one of before) expect(share.take(one)).toBe(same.take(one))
        const count = n + 1
        const has = share.hasRoom(who, count)
        const taken = Array.from({ length: count }, () => same.take(who))
        expect(has).toBe(taken.every(Boolean))
      },
    ),
  )
})

describe('a stdio server', () => {
  test('one caller cannot take all sessions, and gets places back by ending some', async () => {
    const { url } = await start({ callers: true, limits: { maxSessions: 8 } })
    const begin = (caller: string) => call(url, rpc(caller, 'initialize', {}), { caller })
    const ann = await Promise.all(Array.from({ length: 8 }, () => begin('ann')))
    const opened = ann.filter(({ status }) => status === 200)
    expect(opened).toHaveLength(4)
    const refused = ann.find(({ status }) => status === 503)
    expect(refused?.headers['retry-after']).toBe('60')
    expect(refused?.json).toMatchObject({ id: 'ann', error: { message: expect.stringContaining('DELETE') } })
    expect((await begin('bob')).status).toBe(200)
    const session = { caller: 'ann', 'mcp-session-id': String(opened[0]?.headers['mcp-session-id']) }
    await call(url, undefined, session, 'DELETE')
    expect((await begin('ann')).status).toBe(200)
    expect((await begin('ann')).status).toBe(503)
  })

  test('a caller at the limit loses the own session that is idle, not that of another', async () => {
    let time = 0
    const limits = { maxSessions: 4, reclaimAfterMs: 1000 }
    const { url } = await start({ callers: true, limits, ttlMs: 1e9, now: () => time })
    const begin = async (caller: string) => {
      const { status, headers } = await call(url, rpc(1, 'initialize', {}), { caller })
      return { status, headers: { caller, 'mcp-session-id': String(headers['mcp-session-id']) } }
    }
    const bob = await begin('bob')
    const ann = await begin('ann')
    await begin('ann')
    expect((await begin('ann')).status).toBe(503)
    time = 5000
    expect((await begin('ann')).status).toBe(200)
    const statusOf = async ({ headers }: typeof bob) =>
      (await call(url, { jsonrpc: '2.0', method: 'notifications/x' }, headers)).status
    expect(await statusOf(ann)).toBe(404)
    expect(await statusOf(bob)).toBe(202)
  })

  test('one caller cannot take all calls, with or without a session', async () => {
    const { server, url } = await start({ callers: true, limits: { maxPending: 8 } })
    const ann = await open(url)
    const held = Array.from({ length: 4 }, (_, id) =>
      call(url, rpc(id, 'tools/call'), { caller: 'ann' }).then(({ json }) => json.result),
    )
    const calls = await Promise.all(held.map(() => server.take('tools/call')))
    const refused = await call(url, rpc('more', 'tools/call'), { caller: 'ann' })
    expect([refused.status, refused.headers['retry-after'], refused.json.id]).toEqual([503, '1', 'more'])
    // The address is another caller than Ann, who has logged in.
    const other = call(url, rpc(1, 'tools/call'), ann.headers)
    const { message } = await server.take('tools/call')
    server.send({ jsonrpc: '2.0', id: message.id, result: 'ok' })
    expect((await other).json.result).toBe('ok')
    for (const { message } of calls) server.send({ jsonrpc: '2.0', id: message.id, result: 'done' })
    expect(await Promise.all(held)).toEqual(Array(4).fill('done'))
    const again = call(url, rpc('more', 'tools/call'), { caller: 'ann' })
    server.send({ jsonrpc: '2.0', id: (await server.take('tools/call')).message.id, result: 'again' })
    expect((await again).json.result).toBe('again')
  })
})

test('sessions before a stateless server count while they are opened, by the address that calls', async () => {
  const server = await startStatelessServer({
    respond: ({ message, headers }) =>
      message.method === 'server/discover' && headers['x-held'] !== undefined,
  })
  const config = { protocol: 'stateless', trust_proxy_headers: true } as const
  const proxy = await testProxy({ target: server.origin, config })
  const begin = (address: string, headers: Record<string, string> = {}) => {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    }
    const from = { 'x-forwarded-for': address, ...headers }
    return call(`${proxy.origin}/mcp`, rpc(1, 'initialize', params), from)
  }
  for (let i = 0; i < 500; i++) begin('192.0.2.1', { 'x-held': '1' }).catch(() => {})
  await until(() => server.received('server/discover').length === 500)
  const refused = await begin('192.0.2.1')
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '60'])
  expect((await begin('192.0.2.2')).status).toBe(200)
})
