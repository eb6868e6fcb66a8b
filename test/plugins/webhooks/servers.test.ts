import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Attachment } from '../../../src/contracts/runtime.ts'
import { textOf } from '../../e2e/clients.ts'
import { type RunningServer, startEverything } from '../../support/mcp-fixtures/start-server.ts'
import { named, sendJson, testWebhook, webhookProxy } from './webhook-world.ts'

const everything = new URL(
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
).pathname

function attach(): Attachment {
  const child = spawn(process.execPath, [everything, 'stdio'], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit').then(() => ({}))
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, detach: () => {} }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport)
  onTestFinished(() => client.close())
  return client
}

let http: RunningServer | undefined
beforeAll(async () => {
  http = await startEverything('streamableHttp')
})
afterAll(() => http?.kill())

test.each(['stdio', 'HTTP', 'remote'])('webhooks change and deny calls of a %s server', async kind => {
  const changing = await testWebhook((response, { said }) => {
    const patch = [{ op: 'add', path: '/mcp_request/params/arguments/message', value: 'changed' }]
    const isWanted = JSON.stringify(said.mcp_request.params ?? {}).includes('original')
    sendJson(response, {
      uid: said.uid,
      allowed: true,
      patch_type: 'json_patch',
      patch: isWanted ? patch : [],
    })
  })
  const judging = await testWebhook((response, { said }) => {
    const isDenied = JSON.stringify(said.mcp_request.params ?? {}).includes('forbidden')
    sendJson(response, { uid: said.uid, allowed: !isDenied, reason: 'no such word' })
  })
  const target = kind === 'remote' ? `${http?.origin}/mcp` : (http?.origin ?? '')
  const proxy = await webhookProxy(
    {
      transport: kind === 'stdio' ? 'stdio' : 'streamable-http',
      mutating_webhooks: [named('changing', changing.url)],
      validating_webhooks: [named('words', judging.url)],
      ...(kind === 'remote' ? { remote_url: target } : {}),
    },
    kind === 'stdio' ? {} : { target },
  )
  if (kind === 'stdio') await proxy.connect({ kind: 'stdio', attachment: attach() })
  await proxy.ready({ timeoutMs: 60_000, ping: true })
  const client = await connect(proxy.url)
  const echo = (message: string) => client.callTool({ name: 'echo', arguments: { message } })

  expect(textOf(await echo('hello'))).toContain('hello')
  expect(textOf(await echo('original'))).toContain('changed')
  await expect(echo('forbidden')).rejects.toThrow('The request is denied by a webhook')
  expect(textOf(await echo('hello again'))).toContain('hello again')

  const methods = judging.asked.map(({ said }) => said.mcp_request.method)
  expect(methods.slice(0, 2)).toEqual(['initialize', 'notifications/initialized'])
  expect(methods.filter(method => method === 'tools/call')).toHaveLength(4)
  expect(proxy.logged.join('\n')).toContain('The webhook \\"words\\" denies tools/call: no such word.')
})
