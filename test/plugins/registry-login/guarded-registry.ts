import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { IdentityProvider } from '../../support/identity-provider.ts'
import { pagesOf, type RegistryServer, registryServer } from '../../support/registry-server.ts'

const entry = {
  name: 'com.example/guarded',
  description: 'Only for those who have logged in',
  version: '1.0.0',
  packages: [{ registryType: 'oci', identifier: 'example/guarded:1', transport: { type: 'stdio' } }],
}

export interface GuardedRegistry extends RegistryServer {
  /** Tokens that it takes no more, though they have not run out. */
  readonly banned: Set<string>
}

/** A registry API that answers only who brings a token of this identity provider, and says so (RFC 9728). */
export async function guardedRegistry(provider: IdentityProvider): Promise<GuardedRegistry> {
  const keys = createRemoteJWKSet(new URL(`${provider.issuer}/jwks`))
  const banned = new Set<string>()
  const pages = pagesOf([entry], 100)
  const server = await registryServer((request, response, url) => {
    const metadata = `${server.url}/.well-known/oauth-protected-resource`
    if (url.pathname === '/.well-known/oauth-protected-resource') {
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify({ resource: server.url, authorization_servers: [provider.issuer] }))
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const taken = banned.has(token)
      ? Promise.reject(new Error('banned'))
      : jwtVerify(token, keys, { issuer: provider.issuer, audience: provider.audience })
    taken.then(
      () => pages(request, response, url),
      () =>
        response
          .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` })
          .end('{"error":"unauthorized"}'),
    )
  })
  return Object.assign(server, { banned })
}
