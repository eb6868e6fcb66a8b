import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../../../plugins/auth-server/storage/memory-store.ts'
import { sealStore } from '../../../plugins/auth-server/storage/sealed-store.ts'
import type { OAuth2Config } from '../../../plugins/auth-server/upstream/upstream-config.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type PlainProvider, plainProvider } from './plain-provider.ts'
import { beginLogin, REDIRECT_URI, signal, upstreamOf } from './upstream-world.ts'

const FAILED = { code: 'upstream_login_failed' }
const UNAVAILABLE = { code: 'upstream_unavailable', status: 503 }
const env = { APP_SECRET: 'app-secret', FIRST_TOKEN: 'first-token' }

const configOf = ({ origin }: PlainProvider, more: Partial<OAuth2Config> = {}) => ({
  name: 'github',
  type: 'oauth2' as const,
  oauth2_config: {
    authorization_endpoint: `${origin}/authorize?tenant=1`,
    token_endpoint: `${origin}/token`,
    client_id: 'app',
    client_secret_env_var: 'APP_SECRET',
    scopes: ['repo', 'user'],
    userinfo: {
      endpoint_url: `${origin}/user`,
      additional_headers: { 'X-GitHub-Api-Version': '2022-11-28' },
      field_mapping: {
        subject_fields: ['id'],
        name_fields: ['nick', 'name'],
        email_fields: ['email', 'plan.mail'],
      },
    },
    ...more,
  },
})

test('a person who logs in is known by the user information, with its fields mapped', async () => {
  const provider = await plainProvider()
  const upstream = await upstreamOf(configOf(provider), { env })
  const begun = await beginLogin(upstream, provider.visit)
  const login = await upstream.finish(begun)
  expect(login).toMatchObject({
    ...{ subject: '583231', name: 'Ada Lovelace', email: 'ada@example.org' },
    tokens: { accessToken: expect.stringMatching(/^gho_/), scopes: ['repo', 'user'] },
  })
  expect(Object.fromEntries(begun.url.searchParams)).toMatchObject({
    ...{ tenant: '1', scope: 'repo user', response_type: 'code', code_challenge_method: 'S256' },
  })
  const user = provider.asked.find(({ path }) => path === '/user')
  expect(user?.headers).toMatchObject({ 'x-github-api-version': '2022-11-28', 'user-agent': 'keelson' })
})

test('a token response in another shape is read where the mapping says', async () => {
  const provider = await plainProvider({
    tokens: token => ({ ok: true, authed_user: { id: 'U1', email: 'ada@example.org', token } }),
  })
  const config = configOf(provider, {
    token_response_mapping: {
      access_token_path: 'authed_user.token.access_token',
      refresh_token_path: 'authed_user.token.refresh_token',
      expires_in_path: 'authed_user.token.expires_in',
      scope_path: 'authed_user.token.scope',
    },
    identity_from_token: { subject_path: 'authed_user.id', email_path: 'authed_user.email' },
  })
  const upstream = await upstreamOf(config, { env })
  const login = await upstream.finish(await beginLogin(upstream, provider.visit))
  expect(login).toMatchObject({
    subject: 'U1',
    email: 'ada@example.org',
    tokens: { scopes: ['repo', 'user'] },
  })
  expect(login.tokens.expiresAt).toBeGreaterThan(Date.now())
  expect(JSON.stringify(login.claims)).not.toContain('gho_')
  expect((await upstream.refresh(login.tokens, { signal })).accessToken).not.toBe(login.tokens.accessToken)
})

test('a token response that is a form is read', async () => {
  const provider = await plainProvider()
  const upstream = await upstreamOf(configOf(provider), { env })
  const begun = await beginLogin(upstream, provider.visit)
  provider.respond({
    status: 200,
    type: 'application/x-www-form-urlencoded; charset=utf-8',
    body: 'access_token=gho_form&scope=repo%2Cuser&token_type=bearer',
  })
  expect((await upstream.finish(begun)).tokens).toEqual({
    ...{ accessToken: 'gho_form', scopes: ['repo', 'user'] },
    ...{ refreshToken: undefined, idToken: undefined, expiresAt: undefined },
  })
})

test('a provider that takes the secret as a parameter only gets it there', async () => {
  const provider = await plainProvider()
  const upstream = await upstreamOf(configOf(provider, { client_secret_env_var: 'OTHER' }), {
    env: { OTHER: 'wrong secret' },
  })
  await expect(upstream.finish(await beginLogin(upstream, provider.visit))).rejects.toMatchObject(FAILED)
  const tries = provider.asked.filter(({ path }) => path === '/token')
  expect(tries.map(({ headers }) => headers.authorization !== undefined)).toEqual([true, false])
  expect(tries.map(({ body }) => body.includes('client_secret='))).toEqual([false, true])
})

test.each<[string, { status: number; body: string; type?: string }, object]>([
  ['an error with the status 200', { status: 200, body: '{"error":"bad_verification_code"}' }, FAILED],
  ['an error with the status 400', { status: 400, body: '{"error":"invalid_grant"}' }, FAILED],
  ['a no in the manner of Slack', { status: 200, body: '{"ok":false,"access_token":"a"}' }, FAILED],
  ['no token', { status: 200, body: '{"token_type":"bearer"}' }, FAILED],
  ['a token that is a number', { status: 200, body: '{"access_token":7}' }, FAILED],
  [
    'a token that is too long',
    { status: 200, body: JSON.stringify({ access_token: 'a'.repeat(70_000) }) },
    FAILED,
  ],
  ['a page', { status: 200, body: '<html>' }, UNAVAILABLE],
  ['a list', { status: 200, body: '[]' }, UNAVAILABLE],
  ['a failure of its own', { status: 500, body: '{}' }, UNAVAILABLE],
  ['too many requests', { status: 429, body: '{}' }, UNAVAILABLE],
  ['a body without an end in sight', { status: 200, body: ' '.repeat(600 * 1024) }, UNAVAILABLE],
])('%s ends the login', async (_, reply, expected) => {
  const provider = await plainProvider()
  const upstream = await upstreamOf(configOf(provider), { env })
  const begun = await beginLogin(upstream, provider.visit)
  provider.respond(reply)
  await expect(upstream.finish(begun)).rejects.toMatchObject(expected)
  expect(provider.asked.some(({ path }) => path === '/user')).toBe(false)
})

test('a redirect of the token endpoint is not followed, so the secret goes nowhere else', async () => {
  const provider = await plainProvider()
  const other = await plainProvider()
  const upstream = await upstreamOf(configOf(provider), { env })
  const begun = await beginLogin(upstream, provider.visit)
  provider.respond({ status: 307, body: '', location: `${other.origin}/token` })
  await expect(upstream.finish(begun)).rejects.toMatchObject(UNAVAILABLE)
  expect(other.asked).toHaveLength(0)
})

test('a client is registered once for all replicas, and its secret is used', async () => {
  const provider = await plainProvider()
  const raw = createMemoryStore()
  const config = configOf(provider, {
    client_id: '',
    client_secret_env_var: '',
    dcr_config: { discovery_url: `${provider.origin}/metadata`, initial_access_token_env_var: 'FIRST_TOKEN' },
  })
  for (let replica = 0; replica < 2; replica++) {
    const upstream = await upstreamOf(config, { env, store: sealStore(raw, ['secret']) })
    expect(await upstream.finish(await beginLogin(upstream, provider.visit))).toMatchObject({
      subject: '583231',
    })
  }
  const registered = provider.asked.filter(({ path }) => path === '/register')
  expect(registered).toHaveLength(1)
  expect(JSON.parse(registered[0]?.body ?? '')).toMatchObject({
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
  })
})

test('a secret is read from its file, and a file that is empty is named', async () => {
  const provider = await plainProvider()
  const path = join(await temporaryFolder(), 'secret')
  await writeFile(path, 'app-secret\n')
  const config = configOf(provider, { client_secret_env_var: '', client_secret_file: path })
  const upstream = await upstreamOf(config)
  expect(await upstream.finish(await beginLogin(upstream, provider.visit))).toMatchObject({
    subject: '583231',
  })
  await writeFile(path, '\n')
  await expect(upstreamOf(config)).rejects.toMatchObject({
    code: 'upstream_config_invalid',
    message: expect.stringContaining(path),
  })
})

test('a place in a private network is asked only where the configuration allows it', async () => {
  const provider = await plainProvider()
  const upstream = await upstreamOf(configOf(provider, { token_endpoint: 'https://10.0.0.1/token' }), { env })
  const begun = await beginLogin(upstream, provider.visit)
  const error = await upstream.finish(begun).catch(error => error)
  expect(error).toMatchObject(UNAVAILABLE)
  expect(error.message).toContain('private address')
})

test.each<[string, Partial<OAuth2Config>, string]>([
  ['no token endpoint', { token_endpoint: '' }, 'token_endpoint'],
  ['plain http', { token_endpoint: 'http://login.example/token' }, 'https'],
  [
    'a password in a URL',
    { authorization_endpoint: 'https://user:pass@login.example/' },
    'authorization_endpoint',
  ],
  ['no client', { client_id: '' }, 'client_id'],
  ['a client and a registration', { dcr_config: { discovery_url: 'https://login.example' } }, 'dcr_config'],
  ['no place of the user information', { userinfo: {} }, 'userinfo.endpoint_url'],
  ['two places of the secret', { client_secret_file: '/secret' }, 'client_secret_file'],
  ['a parameter of the login itself', { additional_authorization_params: { state: 'x' } }, 'state'],
  [
    'another redirect',
    { additional_authorization_params: { Redirect_URI: 'https://evil.example' } },
    'Redirect_URI',
  ],
  [
    'a header of its own',
    { userinfo: { endpoint_url: 'https://login.example', additional_headers: { Authorization: 'x' } } },
    'Authorization',
  ],
  [
    'a header with a line break',
    { userinfo: { endpoint_url: 'https://login.example', additional_headers: { 'x-a': 'b\r\nc: d' } } },
    'x-a',
  ],
])('a configuration with %s is refused', async (_, more, problem) => {
  const config = configOf({ origin: 'https://login.example' } as PlainProvider, more)
  const error = await upstreamOf(config, { env }).catch(error => error)
  expect(error).toMatchObject({ code: 'upstream_config_invalid', status: 400 })
  expect(error.message).toContain(problem)
})
