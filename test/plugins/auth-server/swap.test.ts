import type { IncomingHttpHeaders } from 'node:http'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { authServerMiddleware } from '../../../plugins/auth-server/middleware.ts'
import { authServerPreparation } from '../../../plugins/auth-server/preparation.ts'
import { createAuthServers } from '../../../plugins/auth-server/service.ts'
import { upstreamSwapMiddleware } from '../../../plugins/auth-server/swap/middleware.ts'
import { upstreamSwapSection } from '../../../plugins/auth-server/swap/section.ts'
import type { App } from '../../../src/app.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { post, rpc, testProxy, testServer } from '../proxy/test-proxy.ts'
import { oauthClient } from './auth-world.ts'
import { type PlainProvider, plainProvider } from './plain-provider.ts'

const upstreamOf = ({ origin }: Pick<PlainProvider, 'origin'>, name = 'github') => ({
  name,
  type: 'oauth2' as const,
  oauth2_config: {
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    client_id: 'app',
    client_secret_env_var: 'APP_SECRET',
    userinfo: { endpoint_url: `${origin}/user` },
  },
})

/** Stands for the plugin that checks callers: the issuer of a token is the one that it says, unless `issuer` does. */
const accepting =
  (app: App, issuer?: string): MiddlewareFactory =>
  async (config, { port }) => ({
    name: 'authenticate',
    stage: 'authenticate',
    wrap: next => async exchange => {
      const token = exchange.request.headers.authorization?.replace(/^Bearer /, '') ?? ''
      const own = await (await app.service('authServers')).issuerOf({ ...config, port })
      const keys = createLocalJWKSet((await own?.keys()) as never)
      const { payload } = await jwtVerify(token, keys)
      exchange.caller = { subject: payload.sub ?? '', issuer: issuer ?? payload.iss, claims: payload }
      return next(exchange)
    },
  })

/** A server behind a login at two providers, one after the other, and a person who has logged in. */
async function world(
  swap: RunConfig['upstream_swap_config'],
  options: { issuer?: string; remote?: false; tokens?: (token: object) => object } = {},
) {
  const [github, slack] = [await plainProvider(options), await plainProvider()]
  const seen: IncomingHttpHeaders[] = []
  const backend = await testServer((request, response) => {
    seen.push(request.headers)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  const state = await temporaryFolder()
  const services = createAuthServers({
    paths: { state } as App['paths'],
    log: console as unknown as App['log'],
    env: { APP_SECRET: 'app-secret' },
  })
  const app = { service: async () => services } as unknown as App
  const proxy = await testProxy({
    target: backend,
    config: {
      ...(options.remote === false ? {} : { remote_url: `${backend}/mcp` }),
      embedded_auth_server_config: { upstreams: [upstreamOf(github), upstreamOf(slack, 'slack')] },
      ...(swap === undefined ? {} : { upstream_swap_config: swap }),
    },
    middlewares: [authServerMiddleware(app), accepting(app, options.issuer), upstreamSwapMiddleware(app)],
  })
  const client = oauthClient(proxy.origin)
  const id = await client.registered()
  const tab = client.browser()
  const first = await tab.follow(client.authorizeUrl(id))
  const second = await tab.follow(await github.visit(first.url))
  const { response } = await tab.follow(await slack.visit(second.url))
  const back = await tab.press(await response.text(), 'allow')
  const code = new URL(back.url).searchParams.get('code') ?? ''
  const granted = await client.token(client.codeFields(id, code))
  const { access_token: token } = (await granted.json()) as { access_token: string }
  const call = () =>
    post(`${proxy.origin}/mcp`, rpc('tools/list', 1), {
      authorization: `Bearer ${token}`,
      cookie: 'login=of the browser',
    })
  return { github, slack, seen, call, token, client, id }
}

const bearer = /^Bearer gho_[0-9a-f]+$/

test('the server gets the token of the first provider in place of ours, and no cookie', async () => {
  const { call, seen, token } = await world({})
  expect((await call()).status).toBe(200)
  expect(seen[0]?.authorization).toMatch(bearer)
  expect(seen[0]?.cookie).toBeUndefined()
  expect(JSON.stringify(seen)).not.toContain(token)
})

test('the token of the provider that is named goes into the header that is named', async () => {
  const custom = await world({
    provider_name: 'slack',
    header_strategy: 'custom',
    custom_header_name: 'X-Slack',
  })
  expect((await custom.call()).status).toBe(200)
  expect(custom.seen[0]?.['x-slack']).toMatch(bearer)
  expect(custom.seen[0]?.authorization).toBeUndefined()
  const users = ({ asked }: PlainProvider) =>
    asked.filter(({ path }) => path === '/user').map(({ headers }) => headers.authorization)
  expect(users(custom.slack)).toEqual([custom.seen[0]?.['x-slack']])
  expect(users(custom.github)).not.toContain(custom.seen[0]?.['x-slack'])
})

test.each<[string, { remote?: false }]>([
  ['a remote server', {}],
  ['a container', { remote: false }],
])('%s gets neither our token nor that of a provider unless the configuration says so', async (_, where) => {
  const plain = await world(undefined, where)
  expect((await plain.call()).status).toBe(200)
  expect(plain.seen[0]?.authorization).toBeUndefined()
  expect(plain.seen[0]?.cookie).toBeUndefined()
})

test('a container gets the token where the configuration says so', async () => {
  const asked = await world({}, { remote: false })
  expect((await asked.call()).status).toBe(200)
  expect(asked.seen[0]?.authorization).toMatch(bearer)
})

test.each<[string, object]>([
  ['nothing', {}],
  ['only the empty', { provider_name: '', header_strategy: '', custom_header_name: '' }],
])('a section that says %s asks for the first token, and is saved as such', async (_, swap) => {
  const { complete } = authServerPreparation()
  const config = { name: 'a', embedded_auth_server_config: { upstreams: [] }, upstream_swap_config: swap }
  const completed = await complete?.(config as never, { options: {} } as never)
  expect(completed?.upstream_swap_config).toEqual({ header_strategy: 'replace' })
})

test('the tokens of a provider that nobody logs in at are not to be had', async () => {
  const services = createAuthServers({ paths: {}, log: console, env: {} } as never)
  const config = { name: 'a', port: 1, embedded_auth_server_config: { upstreams: [{ name: 'github' }] } }
  const asked = services.upstreamTokensOf(config as never, 'gitlab')
  await expect(asked).rejects.toThrow('no upstream provider "gitlab"; there are: github')
})

test('a token of another issuer that names the same grant gets nothing, and nothing is sent', async () => {
  const { call, seen } = await world({}, { issuer: 'https://other.example' })
  const response = await call()
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
  expect(await response.json()).toMatchObject({ error: 'invalid_token' })
  expect(seen).toHaveLength(0)
})

test('a grant that was revoked gets nothing, and nothing is sent', async () => {
  const { call, seen, client, id, token } = await world({})
  await fetch(`${new URL(client.resource).origin}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ token, client_id: id }),
  })
  expect((await call()).status).toBe(401)
  expect(seen).toHaveLength(0)
})

test('a provider that cannot renew the token now makes the request wait, and nothing is sent', async () => {
  const { call, seen, github } = await world({}, { tokens: token => ({ ...token, expires_in: 1 }) })
  github.respond({ status: 503, body: '' })
  const response = await call()
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('10')
  expect(seen).toHaveLength(0)
  github.respond(undefined)
  expect((await call()).status).toBe(200)
  expect(seen[0]?.authorization).toMatch(bearer)
})

describe('a configuration is refused', () => {
  const upstreams = [upstreamOf({ origin: 'https://login.example' })]
  const remote = { remote_url: 'https://remote.example/mcp', transport: 'streamable-http' }
  const server = { ...remote, embedded_auth_server_config: { upstreams } }
  const off = { embedded_auth_server_config: { upstreams, disable_upstream_token_injection: true } }
  test.each<[string, object, RegExp]>([
    ['without a server that stores tokens', { ...remote, upstream_swap_config: {} }, /needs embedded_auth/],
    ['for a stdio server', { ...server, transport: 'stdio', upstream_swap_config: {} }, /HTTP/],
    ['with an unknown provider', { ...server, upstream_swap_config: { provider_name: 'x' } }, /"x".*github/],
    [
      'with a header that is not used',
      { ...server, upstream_swap_config: { custom_header_name: 'x' } },
      /custom/,
    ],
    [
      'with a custom header without a name',
      { ...server, upstream_swap_config: { header_strategy: 'custom' } },
      /custom/,
    ],
    [
      'with a header of the proxy',
      { ...server, upstream_swap_config: { header_strategy: 'custom', custom_header_name: 'Host' } },
      /Host/,
    ],
    [
      'with another token for the server',
      { ...server, upstream_swap_config: {}, token_exchange_config: { token_url: 'https://login.example' } },
      /token_exchange_config/,
    ],
    [
      'with a forwarded header of the same name',
      {
        ...server,
        upstream_swap_config: {},
        header_forward: { add_plaintext_headers: { Authorization: 'a' } },
      },
      /forwarded header/,
    ],
    [
      'when it is turned off',
      { ...server, ...off, upstream_swap_config: { provider_name: 'github' } },
      /disable_/,
    ],
    [
      'with an exchange when it is turned off',
      { ...server, ...off, aws_sts_config: { region: 'a' } },
      /aws_sts/,
    ],
  ])('%s', (_, config, problem) => {
    expect(() => upstreamSwapSection.check?.(config as unknown as RunConfig)).toThrow(problem)
  })
})
