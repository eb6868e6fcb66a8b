import { expect, test } from 'vitest'
import { startLegacy } from './modern-client.ts'
import { call, rpc } from './raw-client.ts'
import { startStateless } from './start-stateless.ts'

// Tasks of 2025-11-25 and those of the extension of 2026-07-28 are not translated into each other.
const EXTENSION = { 'io.modelcontextprotocol/tasks': {} }
const OTHER = { 'x.example/other': { a: 1 } }
const capabilities = { tasks: { list: {} }, extensions: { ...EXTENSION, ...OTHER } }

test('a newer client and an older server do not hear of tasks of each other', async () => {
  const { ask, server } = await startLegacy({ initialize: { capabilities: { tools: {}, ...capabilities } } })
  const { json } = await ask(1, 'server/discover', {}, { capabilities })
  expect(json.result.capabilities).toEqual({ tools: {}, extensions: OTHER })
  const [{ message } = { message: undefined }] = server.received('initialize')
  expect(message.params.capabilities).toEqual({ extensions: OTHER })
})

test('a tool that an older server runs as a task only fails for a newer client as the server says', async () => {
  const { ask, server } = await startLegacy()
  const called = ask(1, 'tools/call', { name: 'slow' }, { capabilities })
  const { message } = await server.take('tools/call')
  const error = { code: -32601, message: 'slow must be run as a task' }
  server.send({ jsonrpc: '2.0', id: message.id, error })
  const { status, json } = await called
  expect([status, json.error]).toEqual([404, error])
})

test('a newer client hears nothing of tasks, and is told so', async () => {
  const { open } = await startLegacy()
  const wanted = { notifications: { toolsListChanged: true, taskIds: ['t1'] } }
  const listening = await open(1, 'subscriptions/listen', wanted, { capabilities })
  const acknowledged = (await listening.next())?.json
  expect(acknowledged.params.notifications).not.toHaveProperty('taskIds')
  listening.close()
})

test('an older client and a newer server do not hear of tasks of each other', async () => {
  const { url, server, join, respond } = await startStateless({}, { tools: {}, ...capabilities })
  const client = await join(capabilities, '2025-11-25')
  expect(client.result.capabilities).toEqual({ tools: {}, extensions: OTHER })
  const called = call(
    url,
    rpc(1, 'tools/call', { name: 'slow', task: { ttl: 1 }, arguments: {} }),
    client.headers,
  )
  const { message } = await server.take('tools/call')
  expect(message.params).not.toHaveProperty('task')
  const stated = message.params._meta['io.modelcontextprotocol/clientCapabilities']
  expect(stated).toEqual({ extensions: OTHER })
  respond(message.id, { resultType: 'complete', content: [] })
  expect((await called).json.result.content).toEqual([])
})
