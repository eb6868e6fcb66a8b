import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { ownAuthority } from '../../support/own-authority.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { testHome } from './guarded-server.ts'
import { runAndLogIn } from './login-world.ts'

test('certificates of --svc-ca-bundle are trusted for the login and at the server', {
  timeout: 240_000,
}, async () => {
  const home = await testHome()
  const provider = await identityProvider()
  const { path, listen } = await ownAuthority()
  const grants: (string | null)[] = []
  const origin = await listen(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/token') {
      const body = Buffer.concat(await request.toArray()).toString()
      grants.push(new URLSearchParams(body).get('grant_type'))
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const answer = await fetch(`${provider.issuer}/token`, { method: 'POST', headers, body })
      return response.writeHead(answer.status).end(await answer.text())
    }
    const isKnown = request.headers.authorization?.startsWith('Bearer ey')
    if (isKnown) return response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  })
  const args = [
    ...['run', `${origin}/mcp`, '--name', 'far', '--remote-auth-skip-browser', '--svc-ca-bundle', path],
    ...['--remote-auth-client-id', provider.clientId, '--remote-auth-scopes', 'openid,offline_access'],
    ...['--remote-auth-callback-port', String(await freePort())],
    ...[
      '--remote-auth-authorize-url',
      `${provider.issuer}/auth`,
      '--remote-auth-token-url',
      `${origin}/token`,
    ],
  ]

  const shown = await runAndLogIn(home, args, provider)

  expect([shown.code, shown.visits]).toEqual([0, 1])
  expect((await post(shown.url, rpc('ping', 1))).status).toBe(200)
  expect(grants).toEqual(['authorization_code', 'refresh_token']) // the second by the supervisor
  expect(await home.ok(['status', 'far'])).toContain('running')
})

test('a CA bundle that is none is refused before anything is asked', async () => {
  const home = await testHome({ secrets: false })
  const path = join(home.path, 'none.pem')
  await writeFile(path, 'no certificate')

  const { code, stderr } = await home.keelson(['run', 'https://localhost:1/mcp', '--svc-ca-bundle', path])

  expect(code).not.toBe(0)
  expect(stderr).toContain('it holds no certificate')
})
