import { expect, test } from 'vitest'
import { createGrants } from '../../../plugins/auth-server/grants/grants.ts'
import { createMemoryStore } from '../../../plugins/auth-server/storage/memory-store.ts'
import { sealStore } from '../../../plugins/auth-server/storage/sealed-store.ts'
import { createStoredTokens } from '../../../plugins/auth-server/swap/stored-tokens.ts'
import { plainProvider } from './plain-provider.ts'
import { beginLogin, upstreamOf } from './upstream-world.ts'

const HOUR = 3_600_000

/** A person who has logged in at a provider whose tokens are good for an hour, and replicas that share a store. */
async function world() {
  let time = Date.now()
  const now = () => time
  const provider = await plainProvider()
  const raw = createMemoryStore({ now })
  const store = sealStore(raw, ['secret'])
  const config = {
    name: 'github',
    type: 'oauth2' as const,
    oauth2_config: {
      authorization_endpoint: `${provider.origin}/authorize`,
      token_endpoint: `${provider.origin}/token`,
      client_id: 'app',
      client_secret_env_var: 'APP_SECRET',
      userinfo: { endpoint_url: `${provider.origin}/user` },
    },
  }
  const replica = async () => {
    const upstream = await upstreamOf(config, { env: { APP_SECRET: 'app-secret' }, now, store })
    const tokens = createStoredTokens({ store, upstreams: [upstream], lifetimeMs: 24 * HOUR, now })
    return { upstream, tokens }
  }
  const { upstream, tokens } = await replica()
  const login = await upstream.finish(await beginLogin(upstream, provider.visit))
  const grants = createGrants(store, { lifetimeMs: 24 * HOUR, isGood: () => true })
  await grants.keepUpstream('grant-1', upstream.id, login.tokens)
  const renewals = () => provider.asked.filter(({ body }) => body.includes('grant_type=refresh_token')).length
  return {
    ...{ provider, store, grants, upstream, tokens, replica, renewals, login },
    pass(ms: number) {
      time += ms
    },
  }
}

test('a token that is valid is returned without a request', async () => {
  const { tokens, login, renewals } = await world()
  expect(await tokens.accessToken('grant-1', 'github')).toBe(login.tokens.accessToken)
  expect(renewals()).toBe(0)
})

test('a grant or a provider without tokens has none', async () => {
  const { tokens, grants, upstream } = await world()
  expect(await tokens.accessToken('grant-2', 'github')).toBeUndefined()
  expect(await tokens.accessToken('grant-1', 'google')).toBeUndefined()
  await grants.revoke('grant-1', [upstream.id])
  expect(await tokens.accessToken('grant-1', 'github')).toBeUndefined()
})

test('a token that ends soon is renewed once for all requests of all replicas', async () => {
  const { tokens, replica, login, renewals, pass } = await world()
  const other = await replica()
  pass(HOUR)
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? tokens : other.tokens).accessToken('grant-1', 'github'),
    ),
  )
  expect(new Set(all).size).toBe(1)
  expect(all[0]).toMatch(/^gho_/)
  expect(all[0]).not.toBe(login.tokens.accessToken)
  expect(renewals()).toBe(1)
  pass(HOUR)
  expect(await other.tokens.accessToken('grant-1', 'github')).not.toBe(all[0])
  expect(renewals()).toBe(2)
})

test('a provider that refuses to renew is asked once, and there is no token from then on', async () => {
  const { tokens, provider, renewals, pass } = await world()
  pass(HOUR)
  provider.respond({ status: 400, body: '{"error":"invalid_grant"}' })
  expect(await tokens.accessToken('grant-1', 'github')).toBeUndefined()
  provider.respond(undefined)
  expect(await tokens.accessToken('grant-1', 'github')).toBeUndefined()
  expect(renewals()).toBe(1)
})

test('a provider that is away fails the request, and renews when it is back', async () => {
  const { tokens, provider, pass } = await world()
  pass(HOUR)
  provider.respond({ status: 503, body: '' })
  await expect(tokens.accessToken('grant-1', 'github')).rejects.toMatchObject({
    code: 'upstream_unavailable',
    status: 503,
  })
  provider.respond(undefined)
  expect(await tokens.accessToken('grant-1', 'github')).toMatch(/^gho_/)
})

test('tokens of a grant that is revoked while they are renewed are not kept', async () => {
  const { tokens, grants, upstream, provider, store, pass } = await world()
  pass(HOUR)
  const renewed = tokens.accessToken('grant-1', 'github')
  await expect.poll(() => provider.asked.at(-1)?.body).toContain('refresh_token')
  await grants.revoke('grant-1', [upstream.id])
  await renewed
  expect(await store.count('upstream')).toBe(0)
})

test('another provider under the same name is sent nothing, and its tokens are not those of the first', async () => {
  const { tokens, store, upstream } = await world()
  expect(await tokens.accessToken('grant-1', 'github')).toMatch(/^gho_/)
  const evil = {
    ...{ ...upstream, id: 'github https://evil.example/token' },
    refresh: () => Promise.reject(new Error('the provider was asked')),
  }
  const others = createStoredTokens({
    store,
    upstreams: [evil],
    lifetimeMs: HOUR,
    now: () => Date.now() + 2 * HOUR,
  })
  expect(await others.accessToken('grant-1', 'github')).toBeUndefined()
})
