import { BUILD, VERSION } from '../../src/build-info.ts'
import type { ResourceMetadata } from '../../src/contracts/caller-auth.ts'
import type { HttpHost } from '../../src/http/http-host.ts'
import { closed, object, text } from '../../src/lib/schema.ts'

/** Operations on the server itself: its health, its version, and where its callers log in. */
export function ownRoutes(
  http: HttpHost,
  { nonce, metadata }: { nonce: string; metadata: ResourceMetadata | undefined },
): void {
  http.operation({
    id: 'getHealth',
    method: 'GET',
    path: '/health',
    tag: 'system',
    summary: 'Whether the server responds',
    response: [204, 'empty'],
    open: true,
    headers: { 'X-Toolhive-Nonce': nonce },
    handle: () => undefined,
  })
  http.operation({
    id: 'getVersion',
    method: 'GET',
    path: '/api/v1beta/version',
    tag: 'system',
    summary: 'Version of the program',
    response: [200, object({ version: text }, closed)],
    handle: () => ({ version: BUILD === 'dev' ? 'dev' : `v${VERSION}` }),
  })
  if (!metadata) return
  http.operation({
    id: 'getProtectedResource',
    method: 'GET',
    path: metadata.path,
    tag: 'system',
    summary: 'Where callers log in (RFC 9728)',
    response: [200, object({ resource: text }, { additionalProperties: true })],
    open: true,
    handle: ({ host }) => metadata.describe(host),
  })
}
