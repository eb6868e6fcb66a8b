import { expect, test } from 'vitest'
import { type KeycloakLike, keycloakLike } from '../../support/keycloak-like.ts'
import { rpc } from '../proxy/test-proxy.ts'
import { loginProxy } from './login-proxy.ts'

const post = async (url: string, token: string) =>
  (await fetch(url, { method: 'POST', body: rpc('ping', 1), headers: { authorization: `Bearer ${token}` } }))
    .status

const at = ({ issuer, audience }: KeycloakLike) => loginProxy({ issuer, audience })

test.each(['PS256', 'EdDSA'] as const)('a token of a realm that signs with %s is accepted', async alg => {
  const keycloak = await keycloakLike({ alg })
  const { url, callers } = await at(keycloak)

  expect(await post(url, await keycloak.token())).toBe(200)

  expect(callers).toEqual([
    expect.objectContaining({
      issuer: keycloak.issuer,
      groups: ['offline_access', 'uma_authorization', 'team-a'],
      claims: expect.objectContaining({ azp: 'editor' }),
    }),
  ])
})

test('tokens of the key before and of the new key are accepted', async () => {
  const keycloak = await keycloakLike()
  const { url } = await at(keycloak)
  const before = await keycloak.token()
  await keycloak.rotate('EdDSA')

  expect(await post(url, before)).toBe(200)
  expect(await post(url, await keycloak.token())).toBe(200)
})

test('an ID token is refused, even one with the right audience', async () => {
  const keycloak = await keycloakLike()
  const { url, reached } = await at(keycloak)

  expect(await post(url, await keycloak.idToken())).toBe(401)
  expect(reached).toEqual([])
})

test('a token of another realm is refused', async () => {
  const keycloak = await keycloakLike()
  const { url } = await at(keycloak)
  const other = keycloak.issuer.replace('/tools', '/other')

  expect(await post(url, await keycloak.token({ iss: other }))).toBe(401)
})

test('an opaque token is introspected with the credentials of our client, and ends with its session', async () => {
  const keycloak = await keycloakLike()
  const { issuer, audience, introspectionUrl, client } = keycloak
  const config = { issuer, audience, introspectionUrl, clientId: client.id, clientSecret: client.secret }
  const [one, other] = [keycloak.opaqueToken(), keycloak.opaqueToken()]
  const { url, callers } = await loginProxy(config)

  expect(await post(url, one)).toBe(200)
  expect(callers).toEqual([expect.objectContaining({ issuer })])

  keycloak.logout()
  expect(await post(url, other)).toBe(401)
})

test('with wrong credentials of our client no token is accepted', async () => {
  const keycloak = await keycloakLike()
  const { issuer, audience, introspectionUrl, client } = keycloak
  const config = { issuer, audience, introspectionUrl, clientId: client.id, clientSecret: 'wrong' }
  const { url } = await loginProxy(config)

  expect(await post(url, keycloak.opaqueToken())).toBe(401)
})
