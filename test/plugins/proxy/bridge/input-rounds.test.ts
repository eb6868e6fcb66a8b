import { describe, expect, test } from 'vitest'
import { type ModernFacts, startLegacy } from './modern-client.ts'

const asking: ModernFacts = { capabilities: { elicitation: {}, sampling: {}, roots: {} } }
const elicit = (id: unknown, message = 'Who?') => ({
  jsonrpc: '2.0',
  id,
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: {} }, 'x-big': 1 },
})
const CALL = { name: 'ask', arguments: { a: 1, b: { c: [1, 2] } } }
const accept = { action: 'accept', content: { name: 'Ann' } }

/** A call that the server has asked something in. */
async function startParked(options: Parameters<typeof startLegacy>[0] = {}, caller = asking) {
  const started = await startLegacy(options)
  const first = started.ask('first', 'tools/call', CALL, caller)
  const { message } = await started.server.take('tools/call')
  started.server.send(elicit('e'))
  const { json } = await first
  const { inputRequests, requestState } = json.result
  const [key = ''] = Object.keys(inputRequests)
  const retry = (
    changes: Record<string, unknown> = {},
    { id = 'retry', facts = asking }: { id?: unknown; facts?: ModernFacts } = {},
  ) =>
    started.ask(
      id,
      'tools/call',
      { ...CALL, inputResponses: { [key]: accept }, requestState, ...changes },
      facts,
    )
  const finish = (text = 'done') =>
    started.server.send({
      jsonrpc: '2.0',
      id: message.id,
      result: { content: [{ type: 'text', text }] },
    })
  return { ...started, first: json, key, requestState, retry, finish, callId: message.id }
}

describe('a server asks in the middle of a call', () => {
  test('the client gets the request as a round, and its retry gets the response to the call', async () => {
    const { first, server, retry, finish, key } = await startParked()
    expect(first).toEqual({
      jsonrpc: '2.0',
      id: 'first',
      result: {
        resultType: 'input_required',
        inputRequests: {
          [key]: { method: 'elicitation/create', params: elicit('e').params },
        },
        requestState: expect.any(String),
      },
    })
    const second = retry()
    expect((await server.take(line => line.message.id === 'e')).message).toEqual({
      jsonrpc: '2.0',
      id: 'e',
      result: accept,
    })
    finish()
    expect((await second).json).toMatchObject({
      id: 'retry',
      result: { resultType: 'complete', content: [{ text: 'done' }] },
    })
    expect(server.received('tools/call')).toHaveLength(1)
  })

  test('requests that come together are one round; those that come later are the next one', async () => {
    const { ask, server } = await startLegacy()
    const first = ask(1, 'tools/call', CALL, asking)
    const { message } = await server.take('tools/call')
    server.raw(
      [
        elicit('a'),
        { jsonrpc: '2.0', id: 2, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      ]
        .map(line => `${JSON.stringify(line)}\n`)
        .join(''),
    )
    const { inputRequests, requestState } = (await first).json.result
    expect(Object.values(inputRequests).map(input => (input as { method: string }).method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
    ])
    const [one = '', two = ''] = Object.keys(inputRequests)
    const second = ask(2, 'tools/call', { ...CALL, inputResponses: { [one]: accept }, requestState }, asking)
    await server.take(line => line.message.id === 'a' && line.message.result)
    // What the client left out is asked again, under the same key.
    const again = (await second).json.result
    expect(Object.keys(again.inputRequests)).toEqual([two])
    expect(again.requestState).not.toBe(requestState)
    const inputResponses = { [two]: { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } } }
    const third = ask(3, 'tools/call', { ...CALL, inputResponses, requestState: again.requestState }, asking)
    await server.take(line => line.message.id === 2 && line.message.result)
    server.send({ jsonrpc: '2.0', id: 'roots', method: 'roots/list' })
    const last = (await third).json.result
    expect(Object.values(last.inputRequests)).toEqual([{ method: 'roots/list', params: {} }])
    const [key = ''] = Object.keys(last.inputRequests)
    const fourth = ask(
      4,
      'tools/call',
      { ...CALL, inputResponses: { [key]: { roots: [] } }, requestState: last.requestState },
      asking,
    )
    await server.take(line => line.message.id === 'roots' && line.message.result)
    server.send({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
    expect((await fourth).json).toMatchObject({ id: 4, result: { resultType: 'complete' } })
    expect(server.received('tools/call')).toHaveLength(1)
  })

  test('a URL elicitation is asked without its id, which the new revision does not have', async () => {
    const { ask, server } = await startLegacy()
    const called = ask(1, 'tools/call', CALL, { capabilities: { elicitation: { url: {} } } })
    await server.take('tools/call')
    const params = { mode: 'url', message: 'Log in', url: 'https://a.example/', elicitationId: 'i' }
    server.send({ ...elicit('u'), params })
    const [input] = Object.values((await called).json.result.inputRequests)
    expect(input).toEqual({
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Log in', url: 'https://a.example/' },
    })
  })

  test('a client that cannot be asked is not, and the server gets an error', async () => {
    const { ask, server } = await startLegacy()
    const called = ask(1, 'tools/call', CALL, { capabilities: { sampling: {} } })
    const { message } = await server.take('tools/call')
    server.send(elicit('e'))
    expect((await server.take(line => line.message.id === 'e')).message.error.code).toBe(-32601)
    server.send({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
    expect((await called).json.result.resultType).toBe('complete')
    // A list may not ask either.
    const listed = ask(2, 'tools/list', {}, asking)
    const { message: list } = await server.take('tools/list')
    server.send(elicit('l'))
    expect((await server.take(line => line.message.id === 'l')).message.error.code).toBe(-32601)
    server.send({ jsonrpc: '2.0', id: list.id, result: { tools: [] } })
    expect((await listed).json.result.resultType).toBe('complete')
  })

  test('roots that a server wants when nobody calls are asked for in the next call', async () => {
    const { ask, server, answer } = await startLegacy()
    const listed = ask(1, 'tools/list', {}, asking)
    await answer('tools/list', { tools: [] })
    await listed
    server.send({ jsonrpc: '2.0', id: 'r', method: 'roots/list' })
    await expect
      .poll(() => ask(2, 'tools/call', CALL, asking).then(({ json }) => json.result))
      .toMatchObject({
        resultType: 'input_required',
      })
  })

  test('a response that comes while the call is parked waits for the retry', async () => {
    const { retry, finish, server } = await startParked()
    finish('early')
    // The server has its own answer to what it does not wait for any more.
    expect((await server.take(line => line.message.id === 'e')).message.error.message).toBe(
      'The call has ended',
    )
    expect((await retry()).json).toMatchObject({ id: 'retry', result: { content: [{ text: 'early' }] } })
    expect((await retry({}, { id: 'again' })).json.error.code).toBe(-32602)
  })

  test('progress and log messages come on the stream of the round that waits', async () => {
    const { server, key, requestState, open, finish } = await startParked({
      initialize: { capabilities: { tools: {}, logging: {} } },
    })
    const facts = {
      ...asking,
      meta: { progressToken: 'second', 'io.modelcontextprotocol/logLevel': 'warning' },
    }
    const reader = await open(
      2,
      'tools/call',
      { ...CALL, inputResponses: { [key]: accept }, requestState },
      facts,
    )
    await server.take(line => line.message.id === 'e')
    for (const level of ['info', 'error']) {
      server.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data: level } })
    }
    finish()
    expect((await reader.rest()).map(({ json }) => json.params?.data ?? json.result.resultType)).toEqual([
      'error',
      'complete',
    ])
  })

  test('a call that nobody continues is cancelled at the server, and its state says so', async () => {
    const { server, retry, callId } = await startParked({ limits: { parkedMs: 50 } })
    const { message } = await server.take('notifications/cancelled')
    expect(message.params.requestId).toBe(callId)
    expect((await server.take(line => line.message.id === 'e')).message.error).toBeDefined()
    await expect
      .poll(async () => (await retry()).json.error.message)
      .toContain('not continued within 0.05 seconds')
  })

  test('a server that ends with a parked call is an error for its retry, not a second call', async () => {
    const { server, retry, bridge } = await startParked()
    server.die()
    const next = (await startLegacy()).server
    await bridge.connect(next.attachment)
    const { json } = await retry()
    expect(json.error.message).toBe('The server ended before it responded')
    expect(next.received('tools/call')).toEqual([])
  })

  test('a request that the server withdraws is not asked again', async () => {
    const { server, retry, finish } = await startParked()
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'e' } })
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    const second = retry({ inputResponses: {} })
    finish()
    expect((await second).json.result.resultType).toBe('complete')
  })
})

describe('a server wants a URL opened before it takes a call (-32042)', () => {
  const elicitation = { mode: 'url', message: 'Log in', url: 'https://a.example/', elicitationId: 'i' }
  const error = { code: -32042, message: 'log in first', data: { elicitations: [elicitation] } }

  async function refused(capabilities: Record<string, unknown>) {
    const started = await startLegacy()
    const called = started.ask(1, 'tools/call', CALL, { capabilities })
    const { message } = await started.server.take('tools/call')
    started.server.send({ jsonrpc: '2.0', id: message.id, error })
    return { ...started, json: (await called).json }
  }

  test('the client is asked to open it, and the call is sent again when it has', async () => {
    const facts = { capabilities: { elicitation: { url: {} } } }
    const { json, ask, server } = await refused(facts.capabilities)
    const { inputRequests, requestState } = json.result
    const { elicitationId: _, ...params } = elicitation
    expect(inputRequests).toEqual({ 'url-1': { method: 'elicitation/create', params } })
    const inputResponses = { 'url-1': { action: 'accept' } }
    const second = ask(2, 'tools/call', { ...CALL, inputResponses, requestState }, facts)
    const { message } = await server.take('tools/call')
    expect(message.params).toEqual(CALL)
    server.send({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
    expect((await second).json).toMatchObject({ id: 2, result: { resultType: 'complete' } })
  })

  test('the call is not sent again when the user does not open it', async () => {
    const facts = { capabilities: { elicitation: { url: {} } } }
    const { json, ask, server } = await refused(facts.capabilities)
    const { requestState } = json.result
    const inputResponses = { 'url-1': { action: 'decline' } }
    const second = await ask(2, 'tools/call', { ...CALL, inputResponses, requestState }, facts)
    expect(second.json.error.message).toContain('was not opened')
    expect(server.received('tools/call')).toHaveLength(1)
  })

  test('a client that cannot open one is told which capability is missing', async () => {
    const { json } = await refused({ elicitation: {} })
    expect(json.error).toEqual({
      code: -32021,
      message: 'log in first',
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    })
  })
})

describe('a requestState', () => {
  const problem = async (response: ReturnType<Awaited<ReturnType<typeof startParked>>['retry']>) => {
    const { error } = (await response).json
    expect(error?.code).toBe(-32602)
    return error.message
  }

  test('is for the call that was parked: same method, name and arguments', async () => {
    const { retry, ask, key, requestState, server, finish } = await startParked()
    for (const changes of [
      { name: 'other' },
      { arguments: { a: 2, b: { c: [1, 2] } } },
      { arguments: {} },
      { 'x-more': 1 },
    ]) {
      expect(await problem(retry(changes))).toContain('another method or other parameters')
    }
    const prompt = ask(1, 'prompts/get', { ...CALL, inputResponses: { [key]: accept }, requestState }, asking)
    expect(await problem(prompt)).toContain('another method or other parameters')
    expect(await problem(retry({ inputResponses: { [key]: 'text' } }))).toContain('not an object of results')
    expect(await problem(retry({ requestState: undefined }))).toContain('not of this server')
    // None of that used it up; the order of members does not count.
    const second = retry({ arguments: { b: { c: [1, 2] }, a: 1 } })
    await server.take(line => line.message.id === 'e')
    finish()
    expect((await second).json.result.resultType).toBe('complete')
  })

  test('is accepted once', async () => {
    const { retry, server, finish } = await startParked()
    const second = retry()
    await server.take(line => line.message.id === 'e')
    expect(await problem(retry({}, { id: 'replay' }))).toContain('used already')
    finish()
    await second
    expect(await problem(retry({}, { id: 'replay' }))).toContain('used already')
    expect(server.received('tools/call')).toHaveLength(1)
  })

  test('is of its caller alone', async () => {
    const { retry, server, finish } = await startParked({ callers: true }, { ...asking, caller: 'ann' })
    for (const caller of ['bob', 'Ann', '']) {
      expect(await problem(retry({}, { facts: { ...asking, caller } }))).toContain(
        'not of this server and caller',
      )
    }
    const second = retry({}, { facts: { ...asking, caller: 'ann' } })
    await server.take(line => line.message.id === 'e')
    finish()
    expect((await second).json.result.resultType).toBe('complete')
  })
})
