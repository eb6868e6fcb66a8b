import { expect, test } from 'vitest'
import { findProtectedResource } from '../../../plugins/registry-login/oauth/protected-resource.ts'
import { registryServer, sendJson } from '../../support/registry-server.ts'

const REACH = { allowPrivate: true, timeoutMs: 5_000 }
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

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

const about = (resource: string, issuer = 'https://login.example') => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: ['read'],
})

test.each([
  ['with quotes', (url: string) => `Bearer resource_metadata="${url}/who"`],
  ['without', (url: string) => `Bearer realm="x", resource_metadata=${url}/who, scope="a"`],
])('the refusal says where to look, %s', async (_, challenge) => {
  const server = await api(url => ({ '/who': about(url) }), challenge)

  expect(await findProtectedResource(`${server.url}/v0.1/servers`, REACH)).toEqual({
    resource: server.url,
    issuers: ['https://login.example'],
    scopes: ['read'],
  })
})

test('else the well-known place of the path is looked at, then that of the host', async () => {
  const server = await api(url => ({ [WELL_KNOWN]: about(url) }))

  const found = await findProtectedResource(`${server.url}/team/v0.1/servers`, REACH)

  expect(found?.resource).toBe(server.url)
  expect(server.asked.map(({ path }) => path)).toEqual([
    '/team/v0.1/servers',
    `${WELL_KNOWN}/team/v0.1/servers`,
    WELL_KNOWN,
  ])
})

test.each([
  ['another host', () => about('https://other.example')],
  ['a neighbour on the same host', (url: string) => about(`${url}/v0`)],
  ['nothing', () => ({ authorization_servers: ['https://login.example'] })],
  ['something else', () => 'not JSON'],
])('a document about %s is not believed', async (_, documentOf) => {
  const server = await api(url => ({ [WELL_KNOWN]: documentOf(url) }))

  expect(await findProtectedResource(`${server.url}/v0.1/servers`, REACH)).toBeUndefined()
})

test('identity providers that would get tokens over plain http are left out', async () => {
  const server = await api(url => ({ [WELL_KNOWN]: about(url, 'http://login.example') }))

  const found = await findProtectedResource(`${server.url}/v0.1/servers`, REACH)

  expect(found?.issuers).toEqual([])
})

test('an API that is not there says nothing', async () => {
  const server = await api(() => ({}))
  await server.stop()

  expect(await findProtectedResource(`${server.url}/v0.1/servers`, REACH)).toBeUndefined()
})

test('an address in a private network is not asked where these are not allowed', async () => {
  const server = await api(url => ({ [WELL_KNOWN]: about(url) }))

  expect(await findProtectedResource(server.url, { ...REACH, allowPrivate: false })).toBeUndefined()
  expect(server.asked).toEqual([])
})
