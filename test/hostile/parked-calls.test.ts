import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type ModernFacts, startLegacy } from '../plugins/proxy/bridge/modern-client.ts'

const facts = (caller: string): ModernFacts => ({ capabilities: { elicitation: {} }, caller })
const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }
const CALL = { name: 'ask', arguments: {} }

/** As many calls as wished, each parked by an elicitation of its own. */
async function park(count: number, options: Parameters<typeof startLegacy>[0] = {}) {
  const started = await startLegacy({ callers: true, ...options })
  const { ask, server } = started
  const calls = Array.from({ length: count }, (_, n) => ask(`c${n}`, 'tools/call', CALL, facts('ann')))
  const ids: number[] = []
  for (let n = 0; n < count; n++) {
    const { message } = await server.take('tools/call')
    ids.push(message.id)
    server.send({ jsonrpc: '2.0', id: `e${message.id}`, method: 'elicitation/create', params })
  }
  const states: { requestState: string; inputResponses: Record<string, unknown> }[] = []
  for (const { json } of await Promise.all(calls)) {
    const { requestState, inputRequests } = json.result
    const [key = ''] = Object.keys(inputRequests)
    states.push({
      requestState,
      inputResponses: { [key]: { action: 'accept', content: { state: requestState } } },
    })
  }
  return { ...started, ids, states }
}

test('1000 calls are parked at once, and each retry gets the response to a call of its own', async () => {
  const { ask, server, ids, states } = await park(1000)
  expect(new Set(states.map(({ requestState }) => requestState)).size).toBe(1000)
  const retries = states.map((state, n) => ask(`r${n}`, 'tools/call', { ...CALL, ...state }, facts('ann')))
  for (const id of ids) {
    const { message } = await server.take(line => line.message.id === `e${id}`)
    const content = [{ type: 'text', text: message.result.content.state }]
    server.send({ jsonrpc: '2.0', id, result: { content } })
  }
  const texts = (await Promise.all(retries)).map(({ json }) => json.result.content[0].text)
  expect(texts).toEqual(states.map(({ requestState }) => requestState))
  expect(server.received('tools/call')).toHaveLength(1000)
})

test('more calls than may be parked get an error for their elicitation, and none is lost', async () => {
  const { ask, server } = await startLegacy({ limits: { maxParked: 1 } })
  const first = ask(1, 'tools/call', CALL, facts('ann'))
  const { message: one } = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: `e${one.id}`, method: 'elicitation/create', params })
  expect((await first).json.result.resultType).toBe('input_required')
  const second = ask(2, 'tools/call', CALL, facts('ann'))
  const { message: two } = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: `e${two.id}`, method: 'elicitation/create', params })
  const { message: refused } = await server.take(line => line.message.id === `e${two.id}`)
  expect(refused.error.message).toContain('Too many calls')
  server.send({ jsonrpc: '2.0', id: two.id, result: { content: [] } })
  expect((await second).json.result.resultType).toBe('complete')
})

test('10,000 states that are forged, used, expired or of another caller are all refused', async () => {
  const [now, setNow] = clock()
  const { ask, server, states } = await park(4, { now })
  const [kept, used, ...rest] = states
  if (!kept || !used) throw new Error('nothing is parked')
  const done = ask('done', 'tools/call', { ...CALL, ...used }, facts('ann'))
  await server.take(line => line.message.result?.action === 'accept')
  const before = server.lines.length

  const forge = (n: number): { state: string; caller: string } => {
    const { requestState } = kept
    const [number = '', expires = '', mac = ''] = requestState.split('.')
    const kinds = [
      { state: randomBytes(40).toString('base64url'), caller: 'ann' },
      { state: `${number}.${expires}.${randomBytes(32).toString('base64url')}`, caller: 'ann' },
      { state: `${Number(number) + (n % 5) + 1}.${expires}.${mac}`, caller: 'ann' },
      { state: `${number}.${Number(expires) + n + 1}.${mac}`, caller: 'ann' },
      { state: requestState.slice(0, n % requestState.length), caller: 'ann' },
      { state: requestState, caller: `eve${n}` },
      { state: used.requestState, caller: 'ann' },
      { state: used.requestState, caller: 'eve' },
    ]
    return kinds[n % kinds.length] as { state: string; caller: string }
  }
  const refused = { forged: 0, expired: 0 }
  const attack = async (kind: keyof typeof refused, state: string, caller: string) => {
    const { json } = await ask('x', 'tools/call', { ...CALL, ...kept, requestState: state }, facts(caller))
    if (json.error?.code === -32602) refused[kind] += 1
  }
  for (let n = 0; n < 9000; n += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, k) => forge(n + k)).map(f => attack('forged', f.state, f.caller)),
    )
  }
  setNow(24 * 60 * 60_000)
  for (let n = 0; n < 1000; n += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, k) => attack('expired', rest[k % 2]?.requestState ?? '', 'ann')),
    )
  }
  expect(refused).toEqual({ forged: 9000, expired: 1000 })
  // Not a byte of it has reached the server.
  expect(server.lines.length).toBe(before)
  server.die()
  await done
})

function clock(): [() => number, (ms: number) => void] {
  let offset = 0
  return [
    () => Date.now() + offset,
    ms => {
      offset = ms
    },
  ]
}
