import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { WebhookConfig } from '../../../plugins/webhooks/webhook-members.ts'
import { rawServer, rpc, testServer } from '../proxy/test-proxy.ts'
import {
  type Answer,
  keepingServer,
  named,
  sendJson,
  sendTo,
  testWebhook,
  webhookProxy,
} from './webhook-world.ts'

const call = rpc('tools/call', 'an id', { name: 'echo' })

/** Sends 200 MB, or as much as is taken. */
function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(1024 * 1024, ' ')
  let left = 200
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1
      if (!response.write(chunk)) return void response.once('drain', more)
    }
    response.end('{"allowed":true}')
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  more()
}

const raw =
  (text: string): Answer =>
  response =>
    void response.writeHead(200).end(text)

/** Webhooks that do not say what can be relied on, and a part of the line in the log. */
const BROKEN: [string, string, Answer][] = [
  ['never responds', 'did not finish within 1 seconds', () => {}],
  [
    'stops in the middle',
    'did not finish within 1 seconds',
    response => void response.writeHead(200).write('{"allowed":'),
  ],
  ['hangs up', 'closed the connection', response => void response.destroy()],
  ['sends 200 MB', 'larger than 1 MiB', response => pour(response)],
  [
    'responds with 500',
    'responds with 500',
    response => void response.writeHead(500).end('{"allowed":true}'),
  ],
  ['responds with 201', 'responds with 201', response => sendJson(response, { allowed: true }, 201)],
  ['sends a page', 'not a JSON object', raw('<html>')],
  ['sends a list', 'not a JSON object', raw('[{"allowed":true}]')],
  ['allows and denies', 'twice', raw('{"allowed":false,"allowed":true}')],
  ['allows by a text', 'neither true nor false', raw('{"allowed":"true"}')],
  ['responds to another message', 'another uid', { allowed: true, uid: 'another' }],
  ['speaks another version', 'not of version', { allowed: true, version: 'v9' }],
  [
    'compresses',
    'not asked for',
    response => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"allowed":true}'),
  ],
]

test('a webhook that fails refuses what clients send, or is passed over, as its policy says', async () => {
  const elsewhere = await testWebhook()
  const redirect: Answer = response => void response.writeHead(307, { location: elsewhere.url }).end()
  const hook = await testWebhook()
  for (const [what, why, answer] of [...BROKEN, ['redirects', 'responds with 307', redirect] as const]) {
    const { target, reached } = await keepingServer()
    hook.answer(answer)
    const more: Partial<WebhookConfig> = { timeout: why.includes('1 seconds') ? '1s' : '30s' }
    const at = (config: object) => webhookProxy(config, { target })
    const ignoring = named('a', hook.url, { ...more, failure_policy: 'ignore' })
    const [validating, mutating, ignored] = await Promise.all([
      at({ validating_webhooks: [named('a', hook.url, more)] }),
      at({ mutating_webhooks: [named('a', hook.url, more)] }),
      at({ mutating_webhooks: [ignoring], validating_webhooks: [ignoring] }),
    ])
    const [first, second, third] = await Promise.all(
      [validating, mutating, ignored].map(({ origin }) => sendTo(`${origin}/mcp`, call)),
    )
    expect([what, first]).toMatchObject([what, { status: 403, json: { id: 'an id', error: { code: 403 } } }])
    expect([what, second]).toMatchObject([
      what,
      { status: 500, json: { id: 'an id', error: { code: -32603 } } },
    ])
    expect([what, third?.status]).toEqual([what, 200])
    expect(reached.map(({ body }) => body)).toEqual([call])
    for (const { logged } of [validating, mutating, ignored]) {
      const lines = logged.filter(line => line.includes('webhook'))
      expect([what, lines.join('\n')]).toEqual([what, expect.stringContaining(why)])
    }
  }
  expect(elsewhere.asked).toEqual([])
})

test('status 422 and a denial are never ignored, and clients learn nothing of why', async () => {
  const { target, reached } = await keepingServer()
  const hook = await testWebhook()
  const ignoring = named('a', hook.url, { failure_policy: 'ignore' })
  for (const [answer, kind, status] of [
    [(response: ServerResponse) => sendJson(response, { message: 'why' }, 422), 'validating', 403],
    [(response: ServerResponse) => sendJson(response, { message: 'why' }, 422), 'mutating', 422],
    [{ allowed: false, code: 418, message: 'why \u001b[31m\nbecause' }, 'validating', 403],
    [{ allowed: false, reason: 'why', patch_type: 'json_patch', patch: [] }, 'mutating', 403],
    [{ message: 'why' }, 'validating', 403],
  ] as const) {
    hook.answer(answer)
    const { origin, logged } = await webhookProxy({ [`${kind}_webhooks`]: [ignoring] }, { target })
    const response = await sendTo(`${origin}/mcp`, call)
    expect(response).toMatchObject({ status, json: { id: 'an id', error: { code: 403 } } })
    expect(JSON.stringify(response)).not.toContain('why')
    const shown = logged.filter(line => line.includes('webhook')).join('\n')
    expect(shown).toMatch(/denies tools\/call: (418, why\s+because|why|it responds with 422)\./)
    expect(shown).not.toContain('\\u001b')
  }
  expect(reached).toEqual([])
})

test('a connection is kept, and replaced when the webhook has closed it', async () => {
  const { target } = await keepingServer()
  const hook = await testWebhook()
  const { origin } = await webhookProxy({ validating_webhooks: [named('a', hook.url)] }, { target })
  for (let sent = 0; sent < 5; sent += 1) expect((await sendTo(`${origin}/mcp`, call)).status).toBe(200)
  expect(hook.connections()).toBe(1)
  let isFirst = true
  hook.answer((response, { said }) => {
    if (isFirst) response.destroy()
    else sendJson(response, { uid: said.uid, allowed: true })
    isFirst = false
  })
  expect((await sendTo(`${origin}/mcp`, call)).status).toBe(200)
  const [once, again] = hook.asked.slice(-2)
  expect([once?.said.uid, hook.connections()]).toEqual([again?.said.uid, 2])
})

test('a private address is not asked unless the webhook may be at one, by name either', async () => {
  const { target, reached } = await keepingServer()
  const got: string[] = []
  const origin = await rawServer(socket => socket.on('data', chunk => got.push(String(chunk))))
  const url = origin.replace('127.0.0.1', 'localhost')
  const config = { validating_webhooks: [named('a', url, { allow_private_ip: false })] }
  const proxy = await webhookProxy(config, { target })
  expect((await sendTo(`${proxy.origin}/mcp`, call)).status).toBe(403)
  expect(proxy.logged.join('\n')).toContain('is a private address')
  expect([got, reached]).toEqual([[], []])
})

test('a client that leaves ends the question', async () => {
  const leaving = new AbortController()
  let gone = 0
  const url = await testServer((request, response) => {
    request.resume()
    response.on('close', () => {
      gone += 1
    })
    leaving.abort()
  })
  const { target, reached } = await keepingServer()
  const { origin, logged } = await webhookProxy({ validating_webhooks: [named('a', url)] }, { target })
  const sent = fetch(`${origin}/mcp`, { method: 'POST', body: call, signal: leaving.signal })
  await expect(sent).rejects.toThrow()
  await expect.poll(() => gone).toBe(1)
  expect([reached, logged.filter(line => /webhook|internal error/.test(line))]).toEqual([[], []])
})
