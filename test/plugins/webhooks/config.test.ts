import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { webhooksPreparation } from '../../../plugins/webhooks/preparation.ts'
import { readWebhookFiles } from '../../../plugins/webhooks/read-webhook-files.ts'
import { webhooksSection } from '../../../plugins/webhooks/section.ts'
import type { WebhookConfig } from '../../../plugins/webhooks/webhook-members.ts'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { webhookProxy } from './webhook-world.ts'

const webhook = { name: 'a', url: 'https://hook.example/a', failure_policy: 'fail' } as const

test('files are merged by kind and name: a later webhook takes the place of an earlier one', async () => {
  const folder = await temporaryFolder()
  const [json, yaml] = [join(folder, 'one.json'), join(folder, 'two.yaml')]
  const b = { ...webhook, name: 'b', timeout: 2_000_000_000 }
  await writeFile(json, JSON.stringify({ validating: [webhook, b], mutating: null }))
  await writeFile(
    yaml,
    `validating:
  - { name: c, url: https://hook.example/c, failure_policy: ignore, timeout: 1.5s }
  - { name: a, url: https://hook.example/new, failure_policy: ignore }
mutating:
  - name: a
    url: https://hook.example/m
    failure_policy: fail
    tls_config: { ca_bundle_path: ca.pem }
`,
  )
  expect(await readWebhookFiles([json, yaml])).toEqual({
    validating_webhooks: [
      { name: 'a', url: 'https://hook.example/new', failure_policy: 'ignore' },
      b,
      { name: 'c', url: 'https://hook.example/c', failure_policy: 'ignore', timeout: '1.5s' },
    ],
    mutating_webhooks: [
      {
        ...{ name: 'a', url: 'https://hook.example/m', failure_policy: 'fail' },
        tls_config: { ca_bundle_path: join(folder, 'ca.pem') },
      },
    ],
  })
})

test.each([
  ['no webhook', '{}'],
  ['broken JSON', '{"validating": ['],
  ['a member that is not known', JSON.stringify({ validating: [{ ...webhook, failurePolicy: 'fail' }] })],
  ['no failure policy', JSON.stringify({ validating: [{ name: 'a', url: 'https://a.example' }] })],
  ['a list that is not known', JSON.stringify({ validating: [webhook], others: [] })],
])('a file with %s is refused by name', async (_what, text) => {
  const path = join(await temporaryFolder(), 'webhooks.json')
  await writeFile(path, text)
  await expect(readWebhookFiles([path])).rejects.toMatchObject({
    code: 'webhook_file_invalid',
    message: expect.stringContaining(path),
  })
})

test.each<[string, Partial<WebhookConfig>]>([
  ['http', { url: 'http://hook.example' }],
  ['no URL', { url: 'hook' }],
  ['a password in its URL', { url: 'https://a:b@hook.example' }],
  ['an address of this machine', { url: 'https://127.0.0.1' }],
  ['the same in another spelling', { url: 'https://[::ffff:7f00:1]' }],
  ['a timeout that is too long', { timeout: '31s' }],
  ['a timeout that is too short', { timeout: 999_999_999 }],
  ['a timeout that is none', { timeout: 'soon' }],
  ['half a client certificate', { tls_config: { client_cert_path: '/a' } }],
  ['a path from nowhere', { tls_config: { ca_bundle_path: 'a' } }],
  ['an empty reference', { hmac_secret_ref: '' }],
  ['a name for two lines', { name: 'a\nb' }],
])('a webhook with %s is refused', (_what, more) => {
  const config = { name: 'x', validating_webhooks: [{ ...webhook, ...more }] } as RunConfig
  expect(() => checkSection(webhooksSection, config)).toThrow('cannot be used')
})

test('two webhooks of one kind have two names', () => {
  const config = { name: 'x', mutating_webhooks: [webhook, webhook] } as unknown as RunConfig
  expect(() => checkSection(webhooksSection, config)).toThrow('stands twice')
})

test('each webhook of --from-config is named by a file of the user, which says what it is', async () => {
  const path = join(await temporaryFolder(), 'own.json')
  const own = { ...webhook, hmac_secret_ref: 'NO_SUCH' }
  const app = { service: async () => ({ find: async () => undefined }) } as unknown as App
  const complete = async (said: object, files: string[]) =>
    webhooksPreparation(app).complete?.(
      said as RunConfig,
      { options: { 'from-config': 'a.json', 'webhook-config': files } } as never,
    )
  await writeFile(path, JSON.stringify({ validating: [own] }))
  for (const said of [
    { validating_webhooks: [{ ...webhook, url: 'https://evil.example' }] },
    { validating_webhooks: [webhook, { ...webhook, name: 'other' }] },
    { mutating_webhooks: [webhook] },
  ]) {
    await expect(complete(said, [path])).rejects.toMatchObject({ code: 'webhook_unconfirmed' })
  }
  await expect(complete({ validating_webhooks: [webhook] }, [])).rejects.toMatchObject({
    code: 'webhook_unconfirmed',
  })
  await expect(complete({ validating_webhooks: [webhook] }, [path])).rejects.toMatchObject({
    code: 'webhook_secret_missing',
  })
  await writeFile(path, JSON.stringify({ validating: [{ ...webhook, failure_policy: 'ignore' }] }))
  expect(await complete({ name: 'x', validating_webhooks: [webhook] }, [path])).toEqual({
    name: 'x',
    validating_webhooks: [{ ...webhook, failure_policy: 'ignore' }],
  })
})

test('the status of a workload names the hosts of its webhooks, and nothing else of their URLs', async () => {
  const { middlewares } = await webhookProxy({
    validating_webhooks: [{ ...webhook, url: 'https://hook.example:8443/hunter2?key=hunter2' }],
    mutating_webhooks: [webhook, { ...webhook, name: 'b', failure_policy: 'ignore' }],
  })
  const told = middlewares.filter(({ name }) => name.endsWith('webhooks'))
  expect(told.map(({ name, description }) => [name, description])).toEqual([
    [
      'mutating-webhooks',
      'asks hook.example; refuses while it is away; asks hook.example; passes messages on while it is away',
    ],
    ['validating-webhooks', 'asks hook.example:8443; refuses while it is away'],
  ])
})
