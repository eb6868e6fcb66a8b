import { createRemoteJWKSet, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { type IdentityProvider, identityProvider } from './identity-provider.ts'
import { registryServer } from './registry-server.ts'

function authorizationUrl({ issuer, clientId }: IdentityProvider, redirect: string): string {
  const words = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirect,
    scope: 'openid',
    state: 'abc',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  })
  return `${issuer}/auth?${words}`
}

test('the identity provider of the tests signs tokens for the audience that a test names', async () => {
  const provider = await identityProvider({ audience: 'https://registry.example' })
  const keys = createRemoteJWKSet(new URL(`${provider.issuer}/jwks`))

  const { payload } = await jwtVerify(await provider.token(), keys, {
    issuer: provider.issuer,
    audience: 'https://registry.example',
  })

  expect(payload).toMatchObject({ client_id: 'service', scope: 'read write' })
})

test('a visit to its authorization page ends at the address that the client named, with a code', async () => {
  const provider = await identityProvider()
  const client = await registryServer()

  const { url: end } = await provider.visit(authorizationUrl(provider, `${client.url}/callback`))

  expect(end.startsWith(`${client.url}/callback?code=`)).toBe(true)
  expect(new URL(end).searchParams.get('iss')).toBe(provider.issuer)
})

test('a person who says no comes back with access_denied', async () => {
  const provider = await identityProvider()
  const client = await registryServer()
  provider.decide('deny')

  const { url } = await provider.visit(authorizationUrl(provider, `${client.url}/callback`))

  expect(new URL(url).searchParams.get('error')).toBe('access_denied')
})
