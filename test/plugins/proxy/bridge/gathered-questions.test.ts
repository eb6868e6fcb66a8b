import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createModernCall } from '../../../../plugins/proxy/bridge/newer-clients/modern-call.ts'
import { ruleOf } from '../../../../plugins/proxy/eras/modern-methods.ts'
import { type Request, readMessage } from '../../../../src/net/rpc-message.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A call whose server asks for something `count` times, each `everyMs` after the one before. */
async function ask(count: number, everyMs: number) {
  const rounds: string[][] = []
  const read = (text: string) => readMessage(text) as Request
  const reply = {
    attended: () => true,
    related: () => true,
    keepAlive() {},
    fail() {},
    respond: (text: string) => void rounds.push(Object.keys(JSON.parse(text).result.inputRequests)),
  }
  const call = createModernCall({
    rule: ruleOf('tools/call'),
    owner: undefined,
    first: {
      request: read('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}'),
      reply,
      logLevel: undefined,
    },
    opensUrls: false,
    infoText: undefined,
    parkedCalls: {
      park: () => ({ state: 'sealed', end() {} }),
      find: () => 'none',
      keep: () => undefined,
    } as unknown as Parameters<typeof createModernCall>[0]['parkedCalls'],
    respond() {},
    send: () => 'responded',
    abandon() {},
    calls: new Set(),
  })
  for (let n = 1; n <= count; n++) {
    call.reply.related(`{"jsonrpc":"2.0","id":${n},"method":"roots/list"}`)
    await vi.advanceTimersByTimeAsync(everyMs)
  }
  await vi.advanceTimersByTimeAsync(1000)
  return rounds
}

test('requests that a slow machine reads one after another are one round', async () => {
  expect(await ask(3, 40)).toEqual([['input-1', 'input-2', 'input-3']])
})

test('a server that goes on asking cannot hold the round back for long', async () => {
  const [first] = await ask(100, 40)
  expect(first?.length).toBeGreaterThan(5)
  expect(first?.length).toBeLessThan(20)
})
