import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

/** The official client, whose POSTs accept only JSON; it has opened its event stream. */
async function connect(url: string) {
  const types: (string | null)[] = []
  const listening = Promise.withResolvers<void>()
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    async fetch(input, init) {
      const headers = new Headers(init?.headers)
      const isPost = init?.method === 'POST'
      if (isPost) headers.set('accept', 'application/json')
      const response = await fetch(input, { ...init, headers })
      if (isPost) types.push(response.headers.get('content-type'))
      else if (response.ok) listening.resolve()
      return response
    },
  })
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  await listening.promise
  return { client, types }
}

test('progress of a POST that accepts only JSON comes on the open event stream', async () => {
  const server = createPuppet({ initialize: { capabilities: { tools: {} } } })
  const { url } = await startBridge({ attachment: server.attachment })
  const [one, two] = [await connect(url), await connect(url)]
  const seen: number[][] = [[], []]
  const calls = [one, two].map(({ client }, n) =>
    client.callTool({ name: `tool ${n}` }, undefined, {
      onprogress: ({ progress }) => void seen[n]?.push(progress),
    }),
  )
  for (const n of [0, 1]) {
    const { message } = await server.take(({ message }) => message.params?.name === `tool ${n}`)
    const token = message.params._meta.progressToken
    for (const progress of [1, 2]) {
      const params = { progressToken: token, progress: progress + 10 * n }
      server.send({ jsonrpc: '2.0', method: 'notifications/progress', params })
    }
    await expect.poll(() => seen[n]).toEqual([1 + 10 * n, 2 + 10 * n])
    server.send({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
    await calls[n]
  }
  // Each client has heard of its own call alone.
  expect(seen).toEqual([
    [1, 2],
    [11, 12],
  ])
  expect([one, two].map(({ types }) => types.at(-1))).toEqual(['application/json', 'application/json'])
})

test('so does that of two calls of one client, and it waits where no stream is open', async () => {
  const server = createPuppet()
  const { url } = await startBridge({ attachment: server.attachment })
  const { headers } = await open(url)
  const progress = (token: string) => ({ _meta: { progressToken: token } })
  const answers = ['a', 'b'].map(token => call(url, rpc(token, 'tools/call', progress(token)), headers))
  const started = [(await server.take('tools/call')).message, (await server.take('tools/call')).message]
  for (const { id } of started) {
    const params = { progressToken: id, progress: 1 }
    server.send({ jsonrpc: '2.0', method: 'notifications/progress', params })
  }
  const reader = await stream(url, { headers })
  const tokens = [await reader.next(), await reader.next()].map(event => event?.json.params.progressToken)
  expect(tokens.toSorted()).toEqual(['a', 'b'])
  for (const { id } of started) server.send({ jsonrpc: '2.0', id, result: 'done' })
  expect((await Promise.all(answers)).map(({ json }) => json.result)).toEqual(['done', 'done'])
  reader.close()
})
