import { expect, test } from 'vitest'
import { claimsOf } from '../../support/exchange-grants.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { exchangeWorld } from './exchange-world.ts'

const assertionOf = (issuer: string) => ({
  audience: issuer,
  resource: 'https://server.example/mcp',
  scopes: ['read'],
  identity_assertion: { client_id: 'keelson' },
})
const clients = [
  {
    client_id: 'keelson',
    token_endpoint_auth_method: 'none',
    redirect_uris: [],
    grant_types: ['urn:ietf:params:oauth:grant-type:jwt-bearer'],
    response_types: [],
  },
]

test('an ID-JAG of the caller’s provider opens the server of another one', async () => {
  const other = await identityProvider({ exchanges: true, clients })
  const { tokenOf, call, seen, provider } = await exchangeWorld(assertionOf(other.issuer))

  expect((await call(await tokenOf('ada'))).status).toBe(200)

  expect(claimsOf(seen[0]?.authorization)).toMatchObject({
    iss: other.issuer,
    sub: 'ada',
    aud: 'https://server.example/mcp',
    scope: 'read',
    client_id: 'keelson',
  })
  const asked = provider.asked.find(({ form }) => form.get('grant_type')?.endsWith(':token-exchange'))
  expect(Object.fromEntries(asked?.form ?? [])).toMatchObject({
    requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    audience: other.issuer,
    resource: 'https://server.example/mcp',
  })
})

test('a caller whose ID-JAG is refused does not reach the server', async () => {
  const other = await identityProvider({ exchanges: true, clients })
  other.answer((request, response) => {
    if (request.url !== '/token') return false
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
    return true
  })
  const { tokenOf, call, seen } = await exchangeWorld(assertionOf(other.issuer))

  const { status, text } = await call(await tokenOf('ada'))

  expect([status, JSON.parse(text).error]).toEqual([403, 'access_denied'])
  expect(seen).toEqual([])
})
