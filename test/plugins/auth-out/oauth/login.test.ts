import { expect, test } from 'vitest'
import { createOAuthEngine } from '../../../../plugins/auth-out/oauth/engine.ts'
import type { LoginSettings } from '../../../../plugins/auth-out/oauth/types.ts'
import { identityProvider } from '../../../support/identity-provider.ts'
import { personWithBrowser } from './person.ts'
import { protectedServer } from './protected-server.ts'

const engine = createOAuthEngine()

test('a server that says where to log in needs no settings: a client is registered and gets tokens', async () => {
  const provider = await identityProvider()
  const server = await protectedServer({ issuer: provider.issuer, scopes: ['read'] })
  const reach = { target: server.mcp }
  const settings: LoginSettings = {}

  const found = await engine.detect(reach)
  if (found.kind !== 'login') throw new Error(found.kind)
  const discovery = await engine.discover({ settings, challenge: found.challenge }, reach)
  const person = personWithBrowser(provider.visit)
  const { tokens, client } = await engine.login({ discovery, settings, person, waitMs: 10_000 }, reach)

  expect(discovery).toMatchObject({
    issuer: provider.issuer,
    found: 'resource-metadata',
    resource: server.mcp,
  })
  expect(client).toMatchObject({ kind: 'registered', issuer: provider.issuer, authMethod: 'none' })
  expect(tokens).toMatchObject({ accessToken: expect.any(String) })
  const redeemed = provider.asked.find(({ path }) => path === '/token')
  expect(redeemed?.form.get('resource')).toBe(server.mcp)
  expect(redeemed?.form.get('code_verifier')).toEqual(expect.any(String))
})
