import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { identityProvider } from '../support/identity-provider.ts'
import { keycloakLike } from '../support/keycloak-like.ts'
import { type Home, openHome } from './home.ts'
import { shareToolCaches } from './tool-caches.ts'

const SERVER = 'npx://@modelcontextprotocol/server-everything@2026.8.31'

let home: Home
beforeAll(async () => {
  home = await openHome()
  await shareToolCaches(home)
})
afterAll(() => home.close(), 120_000)

const connect = async (url: string, headers: Record<string, string>): Promise<Client> => {
  const client = new Client({ name: 'e2e', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport as Transport)
  onTestFinished(() => client.close())
  return client
}

const providers = {
  'oidc-provider': async () => {
    const { issuer, audience, token } = await identityProvider({ audience: 'https://tools.example' })
    return { issuer, audience, token: () => token(), flags: ['--oidc-access-tokens-only'] }
  },
  'a realm as of Keycloak': async () => {
    const { issuer, audience, token } = await keycloakLike()
    return { issuer, audience, token: () => token(), flags: ['--oidc-allow', 'realm_access.roles=team-a'] }
  },
}

test.each(Object.entries(providers))(
  'behind %s a stdio server is for callers who have logged in',
  {
    timeout: 300_000,
  },
  async (_, start) => {
    const provider = await start()
    const login = [
      ...['--oidc-issuer', provider.issuer, '--oidc-audience', provider.audience],
      ...['--oidc-insecure-allow-http', '--jwks-allow-private-ip', ...provider.flags],
    ]
    const url = await home.ok(['run', SERVER, '--name', 'guarded', '--runtime', 'process', ...login])
    onTestFinished(async () => void (await home.ok(['rm', 'guarded'])))

    await expect(connect(url, {})).rejects.toMatchObject({ code: 401 })
    const refused = await fetch(url, { method: 'POST', body: '{}' })
    const [, metadata = ''] =
      /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
    expect(await (await fetch(metadata)).json()).toMatchObject({
      resource: url,
      authorization_servers: [provider.issuer],
    })

    const client = await connect(url, { authorization: `Bearer ${await provider.token()}` })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
  },
)
