import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../e2e/clients.ts'
import { claimsOf } from '../../support/exchange-grants.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { testHome } from '../auth-out/guarded-server.ts'
import { tellingServer } from './telling-server.ts'

const AUDIENCE = 'https://tools.example'
const BACKEND = 'https://backend.example'
const POLICIES = {
  version: '1.0',
  type: 'cedarv1',
  cedar: {
    policies: [
      'permit(principal, action, resource == Tool::"whoami");',
      'permit(principal == Client::"ada", action, resource == Tool::"pay");',
    ],
  },
}

/**
 * An endpoint behind a login. `guarded` has no login, but policies and an audit log; `exchanging` accepts the tokens of
 * the endpoint and exchanges them; `foreign` accepts tokens for another audience.
 */
async function world() {
  const home = await testHome()
  const provider = await identityProvider({ audience: AUDIENCE, exchanges: true })
  const server = await tellingServer()
  const loginFor = (audience: string) => [
    ...['--oidc-issuer', provider.issuer, '--oidc-audience', audience],
    ...['--oidc-insecure-allow-http', '--jwks-allow-private-ip'],
  ]
  await writeFile(join(home.path, 'policies.json'), JSON.stringify(POLICIES))
  const run = (name: string, ...flags: string[]) => home.ok(['run', server.url, '--name', name, ...flags])
  await run('guarded', '--authz-config', 'policies.json', '--enable-audit')
  await run('foreign', ...loginFor('https://other.example'))
  await run(
    ...(['exchanging', ...loginFor(AUDIENCE), '--token-exchange-url', `${provider.issuer}/token`] as const),
    ...['--token-exchange-audience', BACKEND, '--token-exchange-client-id', provider.service.id],
    ...['--token-exchange-client-secret', provider.service.secret],
  )
  const url = (await home.ok(['endpoint', 'create', 'all', '--group', 'default'])).trim()
  await home.ok(['edit', 'all', ...loginFor(AUDIENCE)])

  async function connect(sub: string, claims: object = {}): Promise<Client> {
    const client = new Client({ name: 'e2e', version: '1' })
    const headers = { authorization: `Bearer ${await provider.sign({ sub, ...claims })}` }
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
    await client.connect(transport as Transport)
    onTestFinished(() => client.close())
    return client
  }

  return { home, url, server, connect }
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name).sort()

test('servers know who calls the endpoint: their policies, audit logs and exchanged tokens are of the caller', {
  timeout: 120_000,
}, async () => {
  const { home, server, connect } = await world()
  const [ada, bob] = [await connect('ada'), await connect('bob')]
  const ofAll = ['exchanging_pay', 'exchanging_whoami', 'guarded_whoami']

  expect(await namesOf(ada)).toEqual([...ofAll, 'guarded_pay'].sort())
  expect(await namesOf(bob)).toEqual(ofAll)
  await expect(bob.callTool({ name: 'guarded_pay' })).rejects.toThrow('Unknown tool')
  expect(textOf(await bob.callTool({ name: 'guarded_whoami' }))).toBe('nothing')
  expect(textOf(await ada.callTool({ name: 'guarded_pay' }))).toBe('nothing')

  for (const [client, sub] of [
    [ada, 'ada'],
    [bob, 'bob'],
  ] as const) {
    const token = textOf(await client.callTool({ name: 'exchanging_whoami' }))
    expect(claimsOf(token)).toMatchObject({ sub, aud: BACKEND })
  }
  // No server gets the token that the endpoint was called with.
  const audiences = server.seen.flatMap(({ authorization }) =>
    authorization ? [claimsOf(authorization)?.aud] : [],
  )
  expect([...new Set(audiences)]).toEqual([BACKEND])

  const log = join(home.path, '.local', 'share', 'keelson', 'audit', 'guarded.jsonl')
  const calls = async () =>
    (await readFile(log, 'utf8'))
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
      .filter(({ target }) => target.method === 'tools/call')
      .map(({ outcome, subjects }) => `${subjects.user_id} ${outcome}`)
  await expect.poll(calls).toEqual(['bob success', 'ada success'])
})

test('in a storm of callers, each has their own tools and tokens', { timeout: 180_000 }, async () => {
  const { connect } = await world()
  const people = Array.from({ length: 12 }, (_, index) => (index % 3 === 0 ? 'ada' : `person-${index}`))
  const wrong = await Promise.all(
    people.map(async sub => {
      const client = await connect(sub)
      const problems: string[] = []
      for (let turn = 0; turn < 8; turn += 1) {
        const [token, mayPay] = await Promise.all([
          client.callTool({ name: 'exchanging_whoami' }).then(textOf),
          client.callTool({ name: 'guarded_pay' }).then(
            () => true,
            () => false,
          ),
        ])
        if (claimsOf(token)?.sub !== sub) problems.push(`${sub} was ${claimsOf(token)?.sub}`)
        if (mayPay !== (sub === 'ada')) problems.push(`${sub} paid: ${mayPay}`)
      }
      return problems
    }),
  )
  expect(wrong.flat()).toEqual([])
})
