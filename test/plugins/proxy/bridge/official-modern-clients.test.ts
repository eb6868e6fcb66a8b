import type { Client, ClientCapabilities } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { connectModern, expectLogsOfRequest, textOf } from '../official-modern-client.ts'
import { spawnFixture, spawnOfficial } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

const everything = async () => startBridge({ attachment: spawnOfficial('everything').attachment })

test('lists, calls, reads, gets prompts, completes, and gets errors', async () => {
  const client = await connectModern((await everything()).url)
  expect(client.getServerVersion()?.name).toBe('mcp-servers/everything')
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
  expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'größer → 🙂' } }))).toContain(
    'größer → 🙂',
  )
  const uri = (await client.listResources()).resources[0]?.uri ?? ''
  expect((await client.readResource({ uri })).contents[0]?.uri).toBe(uri)
  expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0)
  expect((await client.getPrompt({ name: 'simple-prompt' })).messages.length).toBeGreaterThan(0)
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'department', value: '' },
  })
  expect(completion.values.length).toBeGreaterThan(0)
  await expect(client.readResource({ uri: 'no:such' })).rejects.toMatchObject({ code: -32602 })
  await expect(client.callTool({ name: 'no-such', arguments: {} })).resolves.toMatchObject({ isError: true })
})

test('progress arrives while the call runs; cancelling reaches the server', async () => {
  const { url } = await everything()
  const client = await connectModern(url)
  const seen: number[] = []
  const slow = (duration: number, options: Parameters<Client['callTool']>[1]) =>
    client.callTool({ name: 'trigger-long-running-operation', arguments: { duration, steps: 4 } }, options)
  expect(textOf(await slow(0.8, { onprogress: ({ progress }) => void seen.push(progress) }))).toContain(
    'completed',
  )
  expect(seen.slice(0, 3)).toEqual([1, 2, 3])
  const abort = new AbortController()
  const running = slow(8, { signal: abort.signal, onprogress: () => abort.abort() })
  await expect(running).rejects.toThrow()
  expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'still here' } }))).toContain(
    'still here',
  )
})

const ASKED: ClientCapabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} }
const prepare = (client: Client) => {
  client.setRequestHandler('sampling/createMessage', () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'a sampled answer' },
  }))
  client.setRequestHandler('elicitation/create', ({ params }) =>
    params.mode === 'url'
      ? { action: 'accept' as const }
      : { action: 'accept' as const, content: { name: 'Ann', check: true } },
  )
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///r', name: 'my root' }] }))
}

test('sampling, elicitation of forms and URLs, and roots', async () => {
  const client = await connectModern((await everything()).url, ASKED, prepare)
  const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'hi' } })
  expect(textOf(sampled)).toContain('a sampled answer')
  const elicited = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })
  expect(JSON.stringify(elicited)).toContain('Ann')
  expect(textOf(await client.callTool({ name: 'get-roots-list', arguments: {} }))).toContain('my root')
  const url = { url: 'https://a.example/', message: 'Log in' }
  const opened = await client.callTool({ name: 'trigger-url-elicitation', arguments: url })
  expect(textOf(opened)).toContain('User completed the URL elicitation flow')
  // First the error -32042, then, in the repeated call, a request.
  const again = await client.callTool({
    name: 'trigger-url-elicitation',
    arguments: { ...url, errorPath: true },
  })
  expect(textOf(again)).toContain('User completed the URL elicitation flow')
})

test('log messages of a request, and only those', async () => {
  const { url } = await startBridge({ attachment: spawnFixture('conformance').attachment })
  await expectLogsOfRequest(await connectModern(url))
})

test('updates of resources and changes of lists', async () => {
  const client = await connectModern((await everything()).url)
  const updates: string[] = []
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void updates.push(params.uri),
  )
  const uri = (await client.listResources()).resources[0]?.uri ?? ''
  const subscription = await client.listen({ resourceSubscriptions: [uri], toolsListChanged: true })
  expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri], toolsListChanged: true })
  await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} })
  await expect.poll(() => updates).toContain(uri)
  await subscription.close()
})
