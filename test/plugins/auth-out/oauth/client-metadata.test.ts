import { expect, test } from 'vitest'
import { createClientMetadataDocument } from '../../../../plugins/auth-out/oauth/client-metadata.ts'

test('the client metadata document names its own URL, loopback redirect URIs and no secret', () => {
  const url = 'https://example.com/keelson.json'

  const document = createClientMetadataDocument(url)

  expect(document).toMatchObject({
    client_id: url,
    client_name: 'keelson',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
  })
  expect(document.redirect_uris).toContain('http://localhost:8666/callback')
  expect(document.redirect_uris).toContain('http://127.0.0.1/callback')
  expect(document.grant_types).toContain('refresh_token')
})

test.each([
  ['http://example.com/keelson.json', 'https'],
  ['https://example.com/', 'path'],
  ['https://me@example.com/keelson.json', 'user name'],
  ['https://example.com/keelson.json#a', 'fragment'],
  ['https://example.com/a/../keelson.json', 'would read it as'],
])('%s cannot be a client ID: %s', (url, problem) => {
  expect(() => createClientMetadataDocument(url)).toThrow(problem)
})
