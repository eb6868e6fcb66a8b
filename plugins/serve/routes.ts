import { Type } from 'typebox'
import { BUILD, VERSION } from '../../src/build.ts'
import type { HttpHost } from '../../src/http/host.ts'

/** What the server says of itself: health and version. */
export function ownRoutes(http: HttpHost, { nonce }: { nonce: string }): void {
  http.operation({
    id: 'getHealth',
    method: 'GET',
    path: '/health',
    area: 'system',
    summary: 'Whether the server answers',
    answer: [204, 'empty'],
    headers: { 'X-Toolhive-Nonce': nonce },
    handle: () => undefined,
  })
  http.operation({
    id: 'getVersion',
    method: 'GET',
    path: '/api/v1beta/version',
    area: 'system',
    summary: 'Version of the program',
    answer: [200, Type.Object({ version: Type.String() }, { additionalProperties: false })],
    handle: () => ({ version: BUILD === 'dev' ? 'dev' : `v${VERSION}` }),
  })
}
