import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readEvents } from '../audit/audited-proxy.ts'
import { guardedServer, testHome } from '../auth-out/guarded-server.ts'
import { serveHome } from '../auth-out/http-world.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { named, sendJson, testWebhook } from './webhook-world.ts'

const PATH = '/api/v1beta/workloads'

test('webhooks of a file are asked by the program; a stranger’s file or request names none', {
  timeout: 180_000,
}, async () => {
  const home = await testHome()
  const server = await guardedServer()
  const hook = await testWebhook((response, { said }) => {
    sendJson(response, {
      uid: said.uid,
      allowed: said.mcp_request.method !== 'tools/call',
      message: 'no calls',
    })
  })
  await home.ok(['secret', 'set', 'HOOK_KEY'], { input: 'a key' })
  const webhook = named('words', hook.url, { hmac_secret_ref: 'HOOK_KEY' })
  const save = (name: string, value: object) => writeFile(join(home.path, name), JSON.stringify(value))
  await save('webhooks.json', { validating: [webhook] })
  const flags = ['--webhook-config', 'webhooks.json']
  const url = (await home.ok(['run', server.url, '--name', 'far', '--enable-audit', ...flags])).trim()
  const statuses = async (at: string) => [
    (await post(at, rpc('ping', 1))).status,
    (await post(at, rpc('tools/call', 2, { name: 'a' }))).status,
  ]
  expect(await statuses(url)).toEqual([200, 403])
  expect(hook.asked.at(-1)?.headers).toHaveProperty('x-toolhive-signature')
  expect(await home.ok(['logs', 'far', '--proxy'])).toContain('words\\" denies tools/call: no calls.')
  const log = join(home.path, '.local/share/keelson/audit/far.jsonl')
  await expect
    .poll(() => readEvents(log).at(-1))
    .toMatchObject({
      outcome: 'denied',
      metadata: { extra: { decision: { allowed: false, policies: ['webhook words'] } } },
    })

  await home.ok(['export', 'far', 'far.json'])
  const config = JSON.parse(await readFile(join(home.path, 'far.json'), 'utf8'))
  expect(config.validating_webhooks).toEqual([webhook])
  const { audit_config: _, ...others } = config
  await save('near.json', { ...others, name: 'near', container_name: 'near', port: 0 })
  const unconfirmed = await home.keelson(['run', '--from-config', 'near.json'])
  expect([unconfirmed.code, unconfirmed.stdout]).toEqual([2, ''])
  expect(unconfirmed.stderr).toContain(hook.url)
  expect(unconfirmed.stderr).toContain('--webhook-config')
  const near = (await home.ok(['run', '--from-config', 'near.json', ...flags])).trim()
  expect(await statuses(near)).toEqual([200, 403])

  const api = await serveHome(home)
  const create = (members: object) => api.ask('POST', PATH, { name: 'c', url: server.url, ...members })
  const plain = { name: 'a', url: 'https://a.example', failure_policy: 'fail' }
  for (const asked of [
    webhook,
    plain,
    { ...plain, hmac_secret_ref: 'HOOK_KEY' },
    { ...plain, tls_config: { insecure_skip_verify: true } },
  ]) {
    const refused = await create({ mutating_webhooks: [asked] })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(asked.url)])
  }
  const details = (await api.ask('GET', `${PATH}/far`)).json() as { proxy_port: number }
  expect(details).toMatchObject({ validating_webhooks: [webhook] })
  const edit = (members: object) => api.ask('POST', `${PATH}/far/edit`, { url: server.url, ...members })
  expect((await edit({ validating_webhooks: [{ ...webhook, url: `${hook.url}c` }] })).status).toBe(400)
  const { hmac_secret_ref: _key, ...unsigned } = webhook
  expect((await edit({ validating_webhooks: [webhook, plain] })).status).toBe(400)
  expect((await edit({ validating_webhooks: [unsigned] })).status).toBe(400)
  expect((await edit({})).status).toBe(200)
  await api.untilStatus('far', 'running')
  const again = (await api.ask('GET', `${PATH}/far`)).json() as { proxy_port: number }
  expect(await statuses(`http://127.0.0.1:${again.proxy_port}/mcp`)).toEqual([200, 403])
})
