import { describe, expect, test } from 'vitest'
import type { RunConfig } from '../../../../src/contracts/run-config.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { type Spawned, spawnFixture } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

/** A bridge that starts real processes for its clients, and knows which of them were ended. */
async function start(config: Partial<RunConfig> = {}, options: Parameters<typeof startBridge>[0] = {}) {
  const processes: (Spawned & { isEnded: boolean })[] = []
  const shared = spawnFixture('one-client')
  const spawn = async () => {
    const process = { ...spawnFixture('one-client'), isEnded: false }
    processes.push(process)
    const end = async () => {
      process.isEnded = true
      await process.kill()
    }
    return { attachment: process.attachment, end }
  }
  const started = await startBridge({
    attachment: shared.attachment,
    config: { sessions: 'per-client', ...config },
    spawn,
    callers: true,
    ...options,
  })
  return { ...started, processes, running: () => processes.filter(({ isEnded }) => !isEnded).length }
}

const tool = (name: string, value?: unknown, id = 1) => rpc(id, 'tools/call', { name, arguments: { value } })

const recall = async (url: string, headers: Record<string, string>) =>
  (await call(url, tool('recall'), headers)).json.result

const initialize = rpc(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {} })

/** A client with an elicitation that waits for it, on the stream of its call. */
async function asked(url: string, value: string) {
  const { headers } = await open(url, { elicitation: {} })
  const reader = await stream(url, { body: tool('ask', value), headers })
  return { headers, reader, event: await reader.next() }
}

describe.each<Partial<RunConfig>['proxy_mode']>(['streamable-http', 'sse'])('over %s', mode => {
  test('each session has a process of its own, which ends with it', async () => {
    const { origin, url, running } = await start({}, { mode: mode ?? 'streamable-http' })
    const join = async () => {
      if (mode !== 'sse')
        return open(url).then(({ headers }) => ({
          headers,
          at: url,
          leave: () => call(url, undefined, headers, 'DELETE'),
        }))
      const reader = await stream(`${origin}/sse`)
      const at = String((await reader.next())?.data)
      await call(at, initialize)
      await reader.next()
      return { headers: {}, at, leave: async () => reader.close(), reader }
    }
    const [a, b] = [await join(), await join()]
    const ask = async (client: typeof a, body: unknown) => {
      const answer = await call(client.at, body, client.headers)
      return 'reader' in client ? (await client.reader.next())?.json.result : answer.json.result
    }
    await ask(a, tool('keep', 'of the first'))
    expect(await ask(b, tool('recall'))).not.toHaveProperty('kept')
    expect(await ask(a, tool('recall'))).toMatchObject({ kept: 'of the first' })
    expect(running()).toBe(2)
    await a.leave()
    await expect.poll(running).toBe(1)
    await b.leave()
    await expect.poll(running).toBe(0)
  })
})

test('two clients at work are each asked what their own call asks, and get their own logs', async () => {
  const { url } = await start()
  const [a, b] = [await asked(url, 'first?'), await asked(url, 'second?')]
  expect([a, b].map(({ event }) => event?.json.params.message)).toEqual(['first?', 'second?'])
  for (const [client, value] of [
    [b, 'B'],
    [a, 'A'],
  ] as const) {
    void call(url, tool('log', value, 2), client.headers)
    expect((await client.reader.next())?.json.params.data).toBe(value)
    const { id } = client.event?.json ?? {}
    await call(url, { jsonrpc: '2.0', id, result: { action: 'accept', content: { value } } }, client.headers)
    expect((await client.reader.next())?.json.result).toEqual({ action: 'accept', content: { value } })
  }
})

test('the end of a process ends its session alone, and the client can begin anew', async () => {
  const { url, running } = await start()
  const [a, b] = [await open(url), await open(url)]
  const left = await recall(url, b.headers)
  expect((await call(url, tool('end'), a.headers)).status).toBe(502)
  expect((await call(url, tool('recall'), a.headers)).status).toBe(404)
  expect(await recall(url, b.headers)).toEqual(left)
  await expect.poll(running).toBe(1)
  expect((await recall(url, (await open(url)).headers)).pid).not.toBe(left.pid)
})

test('requests without a session and without a login share one process, which no session has', async () => {
  const { url, processes } = await start()
  await call(url, tool('keep', 'shared'))
  expect((await call(url, tool('recall'))).json.result.kept).toBe('shared')
  expect(processes).toEqual([])
  expect(await recall(url, (await open(url)).headers)).not.toHaveProperty('kept')
})

describe('of callers who have logged in', () => {
  const as = (caller: string, headers: Record<string, string> = {}) => ({ caller, ...headers })

  test('nobody reaches the process of another', async () => {
    const { url } = await start()
    const answer = await call(url, initialize, as('ann'))
    const session = { 'mcp-session-id': String(answer.headers['mcp-session-id']) }
    await call(url, tool('keep', "ann's"), as('ann', session))
    expect((await recall(url, as('ann', session))).kept).toBe("ann's")
    expect((await call(url, tool('recall'), as('bob', session))).status).toBe(404)
    expect((await call(url, tool('recall'), session)).status).toBe(404)
  })

  test('each has one process without sessions', async () => {
    const { url, running } = await start()
    await Promise.all(['ann', 'bob'].map(name => call(url, tool('keep', name), as(name))))
    for (const name of ['ann', 'bob']) expect((await recall(url, as(name))).kept).toBe(name)
    expect(running()).toBe(2)
    expect((await call(url, tool('recall'))).json.result).not.toHaveProperty('kept')
  })

  test('none has more processes than one may have; others get theirs', async () => {
    const { url } = await start({ max_processes_per_caller: 1 })
    expect((await call(url, initialize, as('ann'))).status).toBe(200)
    const refused = await call(url, initialize, as('ann'))
    expect(refused).toMatchObject({ status: 503, json: { id: 1, error: { code: -32000 } } })
    expect(refused.json.error.message).toContain('--max-processes-per-caller')
    expect((await call(url, initialize, as('bob'))).status).toBe(200)
  })
})

describe('beyond the limit of processes', () => {
  test('a client is refused with what to do, until another has left', async () => {
    const { url } = await start({ max_processes: 1 })
    const { headers } = await open(url)
    const refused = await call(url, initialize)
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '60' } })
    expect(refused.json.error).toMatchObject({
      code: -32000,
      message: expect.stringContaining('--max-processes'),
    })
    await call(url, undefined, headers, 'DELETE')
    expect((await call(url, initialize)).status).toBe(200)
  })

  test('the client that was idle for longest, and for long enough, makes room', async () => {
    let time = Date.now()
    const { url } = await start({ max_processes: 2 }, { now: () => time, ttlMs: 3_600_000 })
    const [first, second] = [await open(url), await open(url)]
    time += 200_000
    await recall(url, second.headers)
    time += 200_000
    const third = await open(url)
    expect((await call(url, tool('recall'), first.headers)).status).toBe(404)
    for (const { headers } of [second, third]) expect(await recall(url, headers)).toHaveProperty('pid')
  })
})

test('a server that ends again and again is not started for ever', async () => {
  const { url, processes } = await start()
  for (let n = 0; n < 5; n++) {
    const { headers } = await open(url)
    await call(url, tool('end'), headers)
  }
  const refused = await call(url, initialize)
  expect(refused.status).toBe(503)
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1)
  expect(processes).toHaveLength(5)
})

test('clients that come and go have no more processes than may be used while theirs end', async () => {
  let spawned = 0
  const slow: (() => void)[] = []
  const spawn = async () => {
    spawned += 1
    const { attachment, kill } = spawnFixture('one-client')
    const end = () => new Promise<void>(resolve => slow.push(() => void kill().then(resolve)))
    return { attachment, end }
  }
  const { url, bridge } = await start({ max_processes: 2 }, { spawn })
  const comeAndGo = async () => call(url, undefined, (await open(url)).headers, 'DELETE')
  await comeAndGo()
  await comeAndGo()
  const third = comeAndGo()
  await expect.poll(() => bridge.processes?.clients).toBe(1)
  expect(spawned).toBe(2)
  slow[0]?.()
  expect((await third).status).toBe(204)
  expect(spawned).toBe(3)
  for (const end of slow) end()
})

test('an initialize that is written with escapes gets a process of its own, too', async () => {
  const { url, running } = await start({ max_processes: 1 })
  const escaped = JSON.stringify(initialize).replace('initialize', String.raw`\u0069nitialize`)
  expect((await call(url, escaped)).status).toBe(200)
  expect(running()).toBe(1)
  expect((await call(url, escaped)).status).toBe(503)
})

test('a client that waits for no session leaves no process', async () => {
  const { url, processes, running } = await start()
  await call(url, initialize, { accept: 'text/plain' })
  expect(processes).toHaveLength(1)
  await expect.poll(running).toBe(0)
})

test('an idle session ends with its process', async () => {
  const { url, running } = await start({}, { ttlMs: 50 })
  await open(url)
  await expect.poll(running).toBe(0)
})

test('a process is ready ahead of the next client, and none is used twice', async () => {
  const { url, processes, bridge } = await start({ spare_processes: 1 })
  await expect.poll(() => bridge.processes).toEqual({ clients: 0, spare: 1 })
  const ready = processes[0]?.attachment
  const { headers } = await open(url)
  const first = await recall(url, headers)
  expect(processes).toHaveLength(2)
  await call(url, undefined, headers, 'DELETE')
  expect(processes[0]).toMatchObject({ attachment: ready, isEnded: true })
  expect((await recall(url, (await open(url)).headers)).pid).not.toBe(first.pid)
})

test('no process is left when the proxy closes', async () => {
  const { url, close, running } = await start({ spare_processes: 1 })
  await open(url)
  await close()
  expect(running()).toBe(0)
})

describe('with auto', () => {
  test('clients share the process until the server asks one; sessions that are there stay', async () => {
    const { url, running } = await start({ sessions: 'auto' })
    const [a, b] = [await open(url, { elicitation: {} }), await open(url, { elicitation: {} })]
    expect((await recall(url, a.headers)).pid).toBe((await recall(url, b.headers)).pid)
    const reader = await stream(url, { body: tool('ask', 'who?'), headers: a.headers })
    await reader.next()
    expect(running()).toBe(0)
    const c = await open(url, { elicitation: {} })
    expect(running()).toBe(1)
    const pids = []
    for (const { headers } of [a, b, c]) pids.push((await recall(url, headers)).pid)
    expect(new Set(pids).size).toBe(2)
  })

  test('a client that can do more than the server was told gets a process of its own', async () => {
    const { url, running } = await start({ sessions: 'auto' })
    await open(url)
    await open(url)
    expect(running()).toBe(0)
    await open(url, { sampling: {} })
    expect(running()).toBe(1)
  })
})

test('a new version gets the new clients; the old processes end when they have responded', async () => {
  const { url, bridge, running } = await start()
  const { headers } = await open(url)
  const next = spawnFixture('one-client')
  const spawned: Spawned[] = []
  const candidate = await bridge.checkCandidate(next.attachment, {
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    spawn: async () => {
      const process = spawnFixture('one-client')
      spawned.push(process)
      return { attachment: process.attachment, end: () => process.kill() }
    },
  })
  await candidate.promote({ graceMs: 5000, signal: new AbortController().signal })
  expect(running()).toBe(0)
  expect((await call(url, tool('recall'), headers)).status).toBe(404)
  await open(url)
  expect(spawned).toHaveLength(1)
})
