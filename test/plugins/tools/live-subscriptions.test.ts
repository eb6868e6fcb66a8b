import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { ToolControl } from '../../../plugins/tools/tool-controls.ts'
import { modernHeaders, modernParams } from '../proxy/bridge/modern-client.ts'
import { createPuppet } from '../proxy/bridge/puppet-server.ts'
import { call, rpc, stream } from '../proxy/bridge/raw-client.ts'
import { testProxy, testServer, until } from '../proxy/test-proxy.ts'

const VERSION = '2026-07-28'
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const headers = modernHeaders('subscriptions/listen')
const listen = (id: string, notifications: object) =>
  rpc(id, 'subscriptions/listen', modernParams({ notifications }))

const acknowledged = (id: unknown, notifications: object) => ({
  jsonrpc: '2.0',
  method: 'notifications/subscriptions/acknowledged',
  params: { _meta: { [SUBSCRIPTION]: id }, notifications },
})
const changed = (id: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
  params: { _meta: { [SUBSCRIPTION]: id } },
})

/** An HTTP server that acknowledges subscriptions when it is told to. */
async function httpProxy(controls: Map<string, ToolControl>) {
  const held: (() => void)[] = []
  const target = await testServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method, params } = JSON.parse(text)
    const respond = (content: object) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...content }))
    if (method === 'server/discover') return respond({ result: { supportedVersions: [VERSION] } })
    if (method === 'ping') return respond({ error: { code: -32022, message: 'no' } })
    if (params.notifications === undefined) return respond({ error: { code: -32602, message: 'which?' } })
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    held.push(() => response.write(`data: ${JSON.stringify(acknowledged(id, params.notifications))}\n\n`))
  })
  const proxy = await testProxy({ target, middlewares: [toolsMiddleware(controls)] })
  await proxy.connect({ kind: 'http', target: new URL(target), remote: false })
  return {
    url: proxy.url,
    async acknowledge(count: number) {
      await until(() => held.length === count)
      for (const one of held) one()
    },
  }
}

/** The same for a stdio server. */
async function stdioProxy(controls: Map<string, ToolControl>) {
  const server = createPuppet({ initialize: false })
  const proxy = await testProxy({ config: { transport: 'stdio' }, middlewares: [toolsMiddleware(controls)] })
  await proxy.connect({ kind: 'stdio', attachment: server.attachment })
  const first = call(proxy.url, rpc('d', 'server/discover', modernParams()), modernHeaders('server/discover'))
  const asked = await server.take('initialize')
  server.send({ jsonrpc: '2.0', id: asked.message.id, error: { code: -32022, message: 'no' } })
  const discover = await server.take('server/discover')
  server.send({ jsonrpc: '2.0', id: discover.message.id, result: { supportedVersions: [VERSION] } })
  await first
  return {
    url: proxy.url,
    async acknowledge(count: number) {
      for (let n = 0; n < count; n++) {
        const { message } = await server.take('subscriptions/listen')
        server.send(acknowledged(message.id, message.params.notifications))
      }
    },
  }
}

test.each([
  ['streamable HTTP', httpProxy],
  ['stdio', stdioProxy],
])('a change is told to subscriptions of 2026-07-28 that asked for it, over %s', async (_name, open) => {
  const controls = new Map<string, ToolControl>()
  const { url, acknowledge } = await open(controls)
  const control = controls.get('test') as ToolControl
  const subscribe = (id: string, notifications: object) =>
    stream(url, { body: listen(id, notifications), headers })
  const [tools, prompts] = await Promise.all([
    subscribe('a', { toolsListChanged: true }),
    subscribe('b', { promptsListChanged: true }),
  ])
  // Before the acknowledgement, which is the first event of a subscription.
  control.select({ tools_deny: ['x'] })
  await turn()
  await acknowledge(2)
  expect((await tools.next())?.json).toEqual(acknowledged('a', { toolsListChanged: true }))
  expect((await prompts.next())?.json).toEqual(acknowledged('b', { promptsListChanged: true }))

  for (const settings of [{ tools_deny: ['y'] }, {}]) {
    control.select(settings)
    expect((await tools.next())?.json).toEqual(changed('a'))
  }
  expect(prompts.seen).not.toContain('tools/list_changed')
  tools.close()
  prompts.close()
})

test('a subscription that an HTTP server refuses passes as it is', async () => {
  const { url } = await httpProxy(new Map())
  const body = rpc('a', 'subscriptions/listen', modernParams())
  expect((await call(url, body, headers)).json).toMatchObject({ id: 'a', error: { code: -32602 } })
})
