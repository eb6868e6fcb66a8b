import { createHmac } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Exchange, Handler } from '../../../src/contracts/pipeline.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { rpc } from '../proxy/test-proxy.ts'
import { keepingServer, named, sendTo, testWebhook, webhookProxy } from './webhook-world.ts'

const set = (path: string, value: unknown) => ({
  allowed: true,
  patch_type: 'json_patch',
  patch: [{ op: 'add', path: `/mcp_request/params/${path}`, value }],
})

test('each mutating webhook gets what the one before made, and later stages judge the result', async () => {
  const first = await testWebhook(set('name', 'safe'))
  const second = await testWebhook(set('arguments/region', 'eu'))
  const judge = await testWebhook()
  const { target, reached } = await keepingServer()
  const judged: unknown[] = []
  // Whoever has read the message before must not keep what it read.
  const reading = (stage: 'tools' | 'authorize') => async () => ({
    name: stage,
    stage,
    wrap: (next: Handler) => async (exchange: Exchange) => {
      judged.push(await exchange.message())
      return next(exchange)
    },
  })
  const { origin } = await webhookProxy(
    {
      mutating_webhooks: [named('first', first.url), named('second', second.url)],
      validating_webhooks: [named('judge', judge.url)],
    },
    { target, middlewares: [reading('tools'), reading('authorize')] },
  )
  const call =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop","arguments":{"n":12345678901234567890}}}'
  const headers = { 'mcp-method': 'tools/call', 'mcp-name': 'drop', 'mcp-param-region': 'us' }
  expect((await sendTo(`${origin}/mcp`, call, headers)).status).toBe(200)

  const result = call.replace('drop', 'safe').replace('890}', '890,"region":"eu"}')
  expect(reached[0]?.body).toBe(result)
  expect(reached[0]?.headers).toMatchObject({ 'mcp-name': 'safe', 'content-length': String(result.length) })
  expect(reached[0]?.headers).not.toHaveProperty('mcp-param-region')
  expect([judged[0], judged[1]]).toEqual([JSON.parse(call), JSON.parse(result)])
  expect(first.asked[0]?.said.mcp_request.params?.name).toBe('drop')
  expect(second.asked[0]?.said.mcp_request.params?.name).toBe('safe')
  expect(judge.asked[0]?.body).toContain(`"mcp_request":${result}`)
})

test('a webhook is told who calls, without tokens, and signs of what is sent are of the file as it is now', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'key')
  await writeFile(path, 'one\n')
  const [byFile, byName] = [await testWebhook(), await testWebhook()]
  const { target, reached } = await keepingServer()
  const { origin } = await webhookProxy(
    {
      validating_webhooks: [
        named('file', byFile.url, { hmac_secret_ref: path }),
        named('name', byName.url, { hmac_secret_ref: 'HOOK_KEY,target=x' }),
      ],
    },
    { target },
  )
  const caller = {
    ...{ subject: 'ada', issuer: 'https://login.example', groups: ['admins'] },
    claims: {
      sub: 'ada',
      name: 'Ada',
      email: 'a@b.c',
      tsid: 's',
      access_token: 't',
      proof: 'eyJhbGciOiJub25lIn0.e30.',
    },
    actors: [{ subject: 'agent', issuer: 'https://login.example' }],
  }
  const send = () =>
    sendTo(`${origin}/mcp`, rpc('ping', 1), {
      'x-user': JSON.stringify(caller),
      authorization: 'Bearer a-token',
    })
  const isSigned = (asked: (typeof byFile.asked)[number] | undefined, key: string) => {
    const { 'x-toolhive-signature': signature, 'x-toolhive-timestamp': time } = asked?.headers ?? {}
    expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(60)
    const digest = createHmac('sha256', key).update(`${time}.${asked?.body}`).digest('hex')
    expect(signature).toBe(`sha256=${digest}`)
  }
  expect((await send()).status).toBe(200)
  isSigned(byFile.asked[0], 'one\n')
  isSigned(byName.asked[0], 'a key')
  expect(byFile.asked[0]?.said).toEqual({
    version: 'v0.1.0',
    uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    principal: {
      ...{ sub: 'ada', name: 'Ada', email: 'a@b.c', groups: ['admins'] },
      claims: { sub: 'ada', name: 'Ada', email: 'a@b.c' },
      delegation: { chain: [{ iss: 'https://login.example', sub: 'agent' }] },
    },
    mcp_request: { jsonrpc: '2.0', id: 1, method: 'ping' },
    context: {
      server_name: 'test',
      source_ip: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      transport: 'streamable-http',
    },
  })
  expect(JSON.stringify(byFile.asked)).not.toContain('a-token')

  await writeFile(path, 'two')
  expect((await send()).status).toBe(200)
  isSigned(byFile.asked[1], 'two')
  await rm(path)
  expect((await send()).status).toBe(403)
  expect([byFile.asked.length, reached.length]).toEqual([2, 2])
})
