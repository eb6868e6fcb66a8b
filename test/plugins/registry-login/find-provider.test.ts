import { expect, test } from 'vitest'
import { createOAuthEngine } from '../../../plugins/auth-out/oauth/engine.ts'
import { findProvider } from '../../../plugins/registry-login/find-provider.ts'
import { registryServer, sendJson } from '../../support/registry-server.ts'
import { oddIssuer } from '../auth-out/oauth/odd-issuer.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

const find = (url: string, more: { allowPrivate?: boolean } = {}) =>
  findProvider(createOAuthEngine(), { url, allowPrivate: true, timeoutMs: 5_000, ...more })

/** An API that refuses everybody, and says who it is at these paths. */
async function api(
  documents: (url: string) => Record<string, object | string>,
  challenge?: (url: string) => string,
) {
  const server = await registryServer((_, response, url) => {
    const found = documents(server.url)[url.pathname]
    if (typeof found === 'string') return response.end(found)
    if (found) return sendJson(response, found)
    response.writeHead(401, challenge ? { 'www-authenticate': challenge(server.url) } : {}).end()
  })
  return server
}

const about = (resource: string, issuer: string) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: ['read'],
})

test.each([
  ['with quotes', (url: string) => `Bearer resource_metadata="${url}/who"`],
  ['without', (url: string) => `Bearer realm="x", resource_metadata=${url}/who, error="a"`],
])('the refusal says where to look, %s', async (_, challenge) => {
  const { issuer } = await oddIssuer()
  const server = await api(url => ({ '/who': about(url, issuer) }), challenge)

  expect(await find(server.url)).toMatchObject({
    issuer,
    resource: server.url,
    scopes: ['openid', 'offline_access', 'read'],
  })
})

test('else the well-known place of the registry is looked at, then that of the host', async () => {
  const { issuer } = await oddIssuer()
  const server = await api(url => ({ [WELL_KNOWN]: about(url, issuer) }))

  const found = await find(`${server.url}/team`)

  expect(found.resource).toBe(server.url)
  expect(server.asked.map(({ path }) => path)).toEqual([
    '/team/v0.1/servers',
    `${WELL_KNOWN}/team`,
    WELL_KNOWN,
  ])
})

test.each([
  ['another host', (_: string, issuer: string) => about('https://other.example', issuer)],
  ['a neighbour on the same host', (url: string, issuer: string) => about(`${url}/v0`, issuer)],
  ['nothing', (_: string, issuer: string) => ({ authorization_servers: [issuer] })],
  ['something else', () => 'not JSON'],
])('a document about %s is not believed', async (_, documentOf) => {
  const { issuer } = await oddIssuer()
  const server = await api(url => ({ [WELL_KNOWN]: documentOf(url, issuer) }))

  await expect(find(server.url)).rejects.toMatchObject({
    code: 'login_issuer_needed',
    message: expect.stringContaining(server.url),
  })
})

test.each(['http://login.example', 'https://somebody@login.example'])(
  'an identity provider at %s is not asked',
  async issuer => {
    const server = await api(url => ({ [WELL_KNOWN]: about(url, issuer) }))

    await expect(find(server.url)).rejects.toMatchObject({ code: 'issuer_invalid' })
  },
)

test('a registry that is not there does not say where to log in', async () => {
  const server = await api(() => ({}))
  await server.stop()

  await expect(find(server.url)).rejects.toMatchObject({
    code: expect.stringMatching(/^(login_issuer_needed|issuer_unreachable)$/),
  })
})

test('an address in a private network is not asked where these are not allowed', async () => {
  const { issuer } = await oddIssuer()
  const server = await api(url => ({ [WELL_KNOWN]: about(url, issuer) }))

  await expect(find(server.url, { allowPrivate: false })).rejects.toThrow()
  expect(server.asked).toEqual([])
})
