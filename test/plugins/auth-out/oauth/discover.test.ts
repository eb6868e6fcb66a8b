import { expect, test } from 'vitest'
import { readReach } from '../../../../plugins/auth-out/logins/login-settings.ts'
import { discover } from '../../../../plugins/auth-out/oauth/discover.ts'
import type { BearerChallenge } from '../../../../plugins/auth-out/oauth/types.ts'
import { clean } from '../../../../src/lib/printable.ts'
import { registryServer, sendJson } from '../../../support/registry-server.ts'
import { oddIssuer } from './odd-issuer.ts'
import { protectedServer } from './protected-server.ts'

const CHALLENGE: BearerChallenge = { status: 401, isPrivate: true }
const CONFIG = { schema_version: 'v0.1.0', name: 'far', transport: 'streamable-http', port: 0 } as const
const settings = {}
const PLACE = '/.well-known/oauth-protected-resource'

test('metadata is found at the well-known place with the path, and at the root', async () => {
  const { issuer } = await oddIssuer()
  const atPath = await protectedServer({ issuer })
  const atRoot = await registryServer()
  atRoot.answer((_, response, url) =>
    url.pathname === '/.well-known/oauth-protected-resource'
      ? sendJson(response, { resource: atRoot.url, authorization_servers: [issuer] })
      : response.writeHead(404).end(),
  )

  const one = await discover({ settings, challenge: CHALLENGE }, { target: atPath.mcp })
  const other = await discover({ settings, challenge: CHALLENGE }, { target: `${atRoot.url}/deep/mcp` })

  expect(one).toMatchObject({ issuer, resource: atPath.mcp, found: 'resource-metadata', mayBePrivate: true })
  expect(other).toMatchObject({ issuer, resource: atRoot.url })
})

test('metadata of another resource is refused, unless the user names the resource', async () => {
  const { issuer } = await oddIssuer()
  const { mcp } = await protectedServer({ issuer, resource: 'https://bank.example/mcp' })

  await expect(discover({ settings }, { target: mcp })).rejects.toMatchObject({
    code: 'remote_resource_mismatch',
  })
  expect(await discover({ settings: { resource: 'urn:mine' } }, { target: mcp })).toMatchObject({
    issuer,
    resource: 'urn:mine',
  })
})

test.each([
  ['a folder above it', '/shop', '/shop/mcp', '/metadata'],
  ['a folder above it, at the place of that folder', '/shop', '/shop/mcp', `${PLACE}/shop`],
  ['the whole host, where a customer says so', '', '/shop/mcp', '/shop/metadata'],
  ['the whole host, at a place of the customer', '', '/shop/mcp', `${PLACE}/shop/mcp`],
  ['a neighbour', '/shop', '/shopping', '/metadata'],
  ['another tenant', '/mcp?tenant=b', '/mcp?tenant=a', '/metadata'],
])(
  'metadata about %s is refused: its token would open what belongs to others',
  async (_, resource, path, place) => {
    const { issuer } = await oddIssuer()
    const host = await registryServer()
    host.answer((_request, response, url) =>
      url.pathname === place
        ? sendJson(response, { resource: `${host.url}${resource}`, authorization_servers: [issuer] })
        : response.writeHead(404).end(),
    )
    const challenge = { ...CHALLENGE, resourceMetadata: `${host.url}${place}` }

    await expect(discover({ settings, challenge }, { target: `${host.url}${path}` })).rejects.toMatchObject({
      code: 'remote_resource_mismatch',
    })
  },
)

test('metadata of the whole host counts at the place of the host, and a slash at the end does not matter', async () => {
  const { issuer } = await oddIssuer()
  const host = await registryServer()
  host.answer((_request, response, url) =>
    sendJson(response, {
      resource: url.pathname === PLACE ? `${host.url}/` : `${host.url}/mcp/`,
      authorization_servers: [issuer],
    }),
  )
  const found = (at: string) =>
    discover(
      { settings, challenge: { ...CHALLENGE, resourceMetadata: `${host.url}${at}` } },
      { target: `${host.url}/mcp?key=1` },
    )

  expect((await found(PLACE)).resource).toBe(`${host.url}/`)
  expect((await found('/metadata')).resource).toBe(`${host.url}/mcp/`)
})

test.each([
  ['another issuer', () => ({ issuer: 'https://honest.example' })],
  ['its issuer with a slash', (issuer: string) => ({ issuer: `${issuer}/` })],
  ['no token endpoint', () => ({ token_endpoint: undefined })],
  ['a token endpoint by http', () => ({ token_endpoint: 'http://tokens.example/token' })],
])('a server whose metadata names %s is refused', async (_, metadata) => {
  const { issuer } = await oddIssuer({ metadata })
  const { mcp } = await protectedServer({ issuer })

  await expect(discover({ settings }, { target: mcp })).rejects.toMatchObject({
    code: 'remote_issuer_invalid',
  })
})

test.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'])(
  'metadata of an issuer is read at %s',
  async wellKnown => {
    const { issuer } = await oddIssuer({ wellKnown })

    const found = await discover({ settings: { issuer } }, { target: 'https://mcp.invalid/mcp' })

    expect(found).toMatchObject({ issuer, found: 'settings', resource: 'https://mcp.invalid/mcp' })
  },
)

test.each(['\n', '\t', '\u001b[2J', ' ', '\u202e'])('an issuer with %j in it is refused', async mark => {
  const { issuer } = await oddIssuer({ metadata: honest => ({ issuer: `${honest}${mark}` }) })
  const { mcp } = await protectedServer({ issuer: `${issuer}${mark}` })

  const error = await discover({ settings }, { target: mcp }).catch(error => error)

  expect(error).toMatchObject({ code: 'remote_issuer_invalid' })
  expect(error.message).toContain('an issuer is an https URL')
  expect(error.message).toBe(clean(error.message))
})

test('the first issuer whose metadata holds is taken', async () => {
  const bad = await oddIssuer({ metadata: () => ({ issuer: 'https://other.example' }) })
  const good = await oddIssuer()
  const server = await registryServer()
  server.answer((_, response) =>
    sendJson(response, { resource: server.url, authorization_servers: [bad.issuer, good.issuer] }),
  )

  expect(await discover({ settings }, { target: server.url })).toMatchObject({ issuer: good.issuer })
})

test('endpoints that the user names need no metadata, and nobody is asked for it', async () => {
  const server = await registryServer((_, response) => response.writeHead(404).end())
  const authorizeUrl = 'https://login.example/authorize'
  const tokenUrl = 'https://login.example/token'

  const found = await discover({ settings: { authorizeUrl, tokenUrl } }, { target: `${server.url}/mcp` })

  expect(found).toMatchObject({
    issuer: tokenUrl,
    found: 'none',
    server: { authorization_endpoint: authorizeUrl, token_endpoint: tokenUrl },
    scopes: [],
  })
  expect(server.asked).toEqual([])
})

test('the login at endpoints that the user names is not one at the issuer beside them', async () => {
  const authorizeUrl = 'https://login.example/authorize'
  const tokenUrl = 'https://login.example/token'
  const named = { issuer: 'https://honest.example', authorizeUrl, tokenUrl }

  expect(await discover({ settings: named }, { target: 'https://mcp.invalid/mcp' })).toMatchObject({
    issuer: tokenUrl,
  })
})

test('without resource metadata the realm is the issuer, then the origin of the target', async () => {
  const { issuer } = await oddIssuer()
  const silent = await registryServer((_, response) => response.writeHead(404).end())

  const byRealm = await discover(
    { settings, challenge: { ...CHALLENGE, realm: `${issuer}/?tenant=1` } },
    { target: `${silent.url}/mcp` },
  )
  const byOrigin = await discover({ settings }, { target: `${issuer}/mcp` })

  expect(byRealm).toMatchObject({ issuer, found: 'realm' })
  expect(byOrigin).toMatchObject({ issuer, found: 'origin' })
})

test('a server that says nothing of logins fails with what to do', async () => {
  const silent = await registryServer((_, response) => response.writeHead(404).end())

  await expect(discover({ settings }, { target: `${silent.url}/mcp` })).rejects.toMatchObject({
    code: 'remote_login_place_unknown',
    hint: expect.stringContaining('--remote-auth-issuer'),
  })
})

test('a challenge from the internet leads to no private address', async () => {
  const inside = await registryServer()
  const target = 'https://mcp.invalid/mcp'
  const challenge: BearerChallenge = {
    status: 401,
    isPrivate: false,
    resourceMetadata: `${inside.url}/metadata`,
    realm: inside.url,
  }

  await expect(discover({ settings, challenge }, { target })).rejects.toThrow()

  expect(inside.asked).toEqual([])
})

test('a target that a stranger named, and what it names, is not looked for at private addresses', async () => {
  const inside = await registryServer()
  const place = inside.url.replace('127.0.0.1', 'localhost')
  const challenge: BearerChallenge = {
    status: 401,
    isPrivate: true,
    resourceMetadata: `${inside.url}/metadata`,
    realm: place,
  }
  const reach = await readReach({ ...CONFIG, remote_url: `${place}/mcp`, remote_must_be_public: true })

  await expect(discover({ settings, challenge }, reach)).rejects.toThrow()
  await expect(discover({ settings }, reach)).rejects.toThrow()

  expect(inside.asked).toEqual([])
})

test('a redirect of the target to another place is not followed for metadata', async () => {
  const inside = await registryServer()
  const server = await registryServer((_, response) =>
    response.writeHead(302, { location: `${inside.url}/secret` }).end(),
  )

  await expect(discover({ settings }, { target: `${server.url}/mcp` })).rejects.toThrow()

  expect(inside.asked).toEqual([])
})

test('a document without end, and one that never comes, are given up', async () => {
  const huge = await registryServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`{"resource":"${'x'.repeat(2 * 1024 * 1024)}"}`)
  })
  const slow = await registryServer((_, response) => response.writeHead(200).write('{'))

  await expect(discover({ settings }, { target: huge.url })).rejects.toMatchObject({
    code: 'remote_issuer_invalid',
  })
  await expect(discover({ settings }, { target: slow.url, timeoutMs: 200 })).rejects.toMatchObject({
    code: 'remote_issuer_unreachable',
  })
})

test('an issuer that is down is unreachable, not invalid', async () => {
  const { issuer } = await oddIssuer({
    other: (_, response) => Boolean(response.writeHead(503).end()),
  })

  await expect(discover({ settings: { issuer } }, { target: 'https://mcp.invalid/' })).rejects.toMatchObject({
    code: 'remote_issuer_unreachable',
  })
})

test.each([
  ['those of the user', { scopes: ['mine'] }, CHALLENGE, ['mine']],
  ['those of the challenge', {}, { ...CHALLENGE, scopes: ['asked'] }, ['asked', 'offline_access']],
  ['those of the metadata', {}, CHALLENGE, ['listed', 'offline_access']],
  [
    'what the user named and what a 403 misses',
    { scopes: ['mine'] },
    { ...CHALLENGE, status: 403, scopes: ['more'] },
    ['mine', 'more'],
  ],
] as const)('the scopes to ask for: %s', async (_, chosen, challenge, scopes) => {
  const { issuer } = await oddIssuer({ metadata: () => ({ scopes_supported: ['offline_access', 'listed'] }) })
  const { mcp } = await protectedServer({ issuer, scopes: ['listed'] })

  expect(await discover({ settings: chosen, challenge }, { target: mcp })).toMatchObject({ scopes })
})

test('no scopes are asked for where nobody names any', async () => {
  const { issuer } = await oddIssuer({ metadata: () => ({ scopes_supported: ['offline_access'] }) })
  const { mcp } = await protectedServer({ issuer })

  expect(await discover({ settings, challenge: CHALLENGE }, { target: mcp })).toMatchObject({ scopes: [] })
})
