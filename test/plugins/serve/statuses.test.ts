import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { keelsonUser } from '../../support/keelson.ts'

const v1 = '/api/v1beta'
const AUDIENCE = 'https://keelson.test/api'

/** A folder where a file should be is nothing that any request is to blame for. */
async function spoil(file: string): Promise<void> {
  await rm(file, { recursive: true, force: true })
  await mkdir(file, { recursive: true })
}

test('what fails here is 500 without a detail, and the server goes on', async () => {
  const user = await keelsonUser()
  user.env.KEELSON_SECRETS_PASSWORD = 'correct horse battery'
  // Where callers log in, the server reads no caller token from the settings, which are spoiled here.
  const { issuer, token } = await identityProvider({ audience: AUDIENCE })
  const login = ['--oidc-issuer', issuer, '--oidc-audience', AUDIENCE]
  const local = ['--oidc-insecure-allow-http', '--jwks-allow-private-ip']
  const args = ['--port', '0', ...login, ...local]
  const api = await startApi({ user, args, token: await token() })
  expect((await api.ask('POST', `${v1}/secrets`, { provider_type: 'encrypted' })).status).toBe(201)
  expect((await api.ask('POST', `${v1}/secrets/default/keys`, { key: 'a', value: 'b' })).status).toBe(201)

  const requests = [
    ['POST', `${v1}/secrets`, { provider_type: 'encrypted' }],
    ['POST', `${v1}/secrets/default/keys`, { key: 'b', value: 'b' }],
    ['PUT', `${v1}/secrets/default/keys/a`, { value: 'c' }],
    ['GET', '/registry/default/v0.1/servers'],
    ['GET', '/registry/default/v0.1/servers/fetch/versions/latest'],
    ['GET', '/registry/default/v0.1/x/dev.toolhive/skills'],
    ['GET', '/registry/default/v0.1/x/dev.toolhive/skills/a/b'],
  ] as const
  await spoil(join(user.home, '.config/keelson/config.json'))

  const responses = await Promise.all(requests.map(([method, path, body]) => api.ask(method, path, body)))

  for (const [i, { status, text }] of responses.entries()) {
    expect([requests[i]?.[1], status]).toEqual([requests[i]?.[1], 500])
    expect(text).not.toContain(user.home)
  }
  expect((await api.ask('GET', '/health')).status).toBe(204)
})

test('the registry cannot be changed by a page of another site', async () => {
  const api = await startApi()

  const response = await fetch(`${api.url}${v1}/registry/default`, {
    method: 'PUT',
    headers: { origin: 'https://evil.test' },
    body: '{}',
  })

  expect(response.status).toBe(403)
})

test('every status of a failure that is described has a reason', async () => {
  const api = await startApi()

  for (const methods of Object.values(api.document.paths)) {
    for (const { operationId, responses } of Object.values(methods)) {
      for (const [status, { description }] of Object.entries(
        responses as Record<string, { description?: string }>,
      )) {
        expect([operationId, status, description]).not.toEqual([operationId, status, 'Failure'])
      }
    }
  }
})
