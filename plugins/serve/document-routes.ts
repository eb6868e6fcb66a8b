import type { HttpHost } from '../../src/http/http-host.ts'
import { toPage } from './document-page.ts'

/** The description of the API, for programs and for people. */
export function documentRoutes(http: HttpHost, describe: () => object): void {
  let document: object | undefined // made once all operations are there, its own included
  http.operation({
    id: 'getOpenApi',
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'system',
    summary: 'This description',
    response: [200, {}],
    handle() {
      document ??= describe()
      return document
    },
  })
  http.operation({
    id: 'getDocumentation',
    method: 'GET',
    path: '/api/doc',
    tag: 'system',
    summary: 'This description, for people',
    response: [200, 'html'],
    headers: {
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
    handle: () => toPage(http.operations),
  })
}
