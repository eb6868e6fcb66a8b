import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'
import { application } from '../auth-server/application.ts'
import { providerOfTeam, SECRET } from '../auth-server/team-provider.ts'

/** The flags of the walk-through. */
async function loginFlags(user: KeelsonUser, issuer: string): Promise<string[]> {
  await writeFile(join(user.home, 'client-secret'), SECRET, { mode: 0o600 })
  return [
    ...['--auth-server-upstream', issuer, '--auth-server-client-id', 'keelson'],
    ...['--auth-server-client-secret-file', 'client-secret', '--auth-server-storage', 'sqlite'],
  ]
}

/** Logs in as a program does that knows a URL of the API, and nothing else. */
async function logIn(url: string, { kept, provider } = application()) {
  const refused = await fetch(url)
  expect(refused.status).toBe(401)
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(refused)
  const options = { serverUrl: url, ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}) }
  expect(await auth(provider, options)).toBe('REDIRECT')
  const authorizationCode = kept.back?.searchParams.get('code') ?? ''
  expect(await auth(provider, { ...options, authorizationCode })).toBe('AUTHORIZED')
  return { kept, provider, options }
}

test('a program logs in to the API with nothing but its URL, and stays logged in when the server starts again', {
  timeout: 60_000,
}, async () => {
  const [upstream, user] = [await providerOfTeam(), await keelsonUser()]
  const flags = await loginFlags(user, upstream.issuer)
  const api = await startApi({ user, args: ['--port', '0', ...flags] })
  const { port } = new URL(api.url)
  const workloads = (origin: string) => `${origin}/api/v1beta/workloads`
  const { kept, provider, options } = await logIn(workloads(api.url))
  const ask = async (origin: string, token = kept.tokens?.access_token) =>
    (await fetch(workloads(origin), { headers: { authorization: `Bearer ${token}` } })).status
  expect(await ask(api.url)).toBe(200)
  expect(await ask(api.url, kept.tokens?.id_token)).toBe(401)
  expect(await ask(api.url, await upstream.token())).toBe(401)

  // By the other name of loopback it works as well, with the same tokens.
  const byName = await logIn(workloads(`http://localhost:${port}`))
  expect(await ask(api.url, byName.kept.tokens?.access_token)).toBe(200)

  const folder = join(user.home, '.local/state/keelson/server/auth-server')
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'latin1')
    for (const token of [kept.tokens?.refresh_token, kept.tokens?.access_token]) {
      expect(text).not.toContain(token ?? 'missing')
    }
  }

  expect(await api.stop()).toBe(143)
  const again = await startApi({ user, args: ['--port', port, ...flags] })
  expect(await ask(again.url)).toBe(200)
  expect(await auth(provider, options)).toBe('AUTHORIZED') // with its refresh token
  expect(await ask(again.url)).toBe(200)
  expect(again.log() + api.log()).not.toMatch(/ExperimentalWarning|the secret of keelson/)
})

test('links of other sites lead to the pages of the login, and to nothing else', {
  timeout: 60_000,
}, async () => {
  const [upstream, user] = [await providerOfTeam(), await keelsonUser()]
  const api = await startApi({
    user,
    args: ['--port', '0', '--ui', ...(await loginFlags(user, upstream.issuer))],
  })
  /** As a browser does: the fetch of Node sends headers of its own. */
  async function from(path: string, method: string, more: Record<string, string>) {
    const headers = { 'sec-fetch-site': 'cross-site', ...more }
    const [response] = await once(request(`${api.url}${path}`, { method, headers }).end(), 'response')
    response.resume()
    return { status: (response as IncomingMessage).statusCode }
  }
  const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  // A link may lead to the pages, and only a page of ours may send their forms.
  expect((await from('/oauth/authorize', 'GET', link)).status).toBe(400)
  expect((await from('/oauth/authorize', 'GET', {})).status).toBe(403)
  expect((await from('/oauth/consent', 'POST', { origin: 'https://evil.example' })).status).toBe(403)
  expect((await from('/oauth/register', 'POST', { origin: 'https://evil.example' })).status).toBe(403)
  expect((await fetch(`${api.url}/oauth/token`)).status).toBe(405)
  expect((await fetch(`${api.url}/oauth/other`)).status).toBe(404)
  expect((await fetch(`${api.url}/.well-known/other`)).status).toBe(404)
  expect((await fetch(`${api.url}/api/v1beta/workloads`)).status).toBe(401)
  expect((await fetch(`${api.url}/`)).status).toBe(200)
})

test.each<[string, string[], string]>([
  ['no provider', ['--auth-server-client-id', 'keelson'], 'no upstream provider'],
  [
    'a provider where anybody can have an account',
    ['--auth-server-upstream', 'https://accounts.google.com', '--auth-server-client-id', 'keelson'],
    '--auth-server-allow',
  ],
  [
    'a file and another flag',
    ['--auth-server-config', 'auth.yaml', '--auth-server-storage', 'sqlite'],
    '--auth-server-storage does not go with --auth-server-config',
  ],
  [
    'addresses of other machines without a URL for them',
    [
      ...['--host', '0.0.0.0', '--auth-server-upstream', 'https://login.test'],
      ...['--auth-server-client-id', 'keelson'],
    ],
    '--auth-server-issuer',
  ],
  [
    'a socket without a URL',
    [
      ...['--socket', 'api.sock', '--auth-server-upstream', 'https://login.test'],
      ...['--auth-server-client-id', 'keelson'],
    ],
    '--auth-server-issuer',
  ],
])('%s is refused, and nothing is left', async (_, args, problem) => {
  const user = await keelsonUser()
  const { code, stderr, stdout } = await user.run(['serve', '--port', '0', ...args])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(problem)
  expect(await readdir(join(user.home, '.local/state/keelson/server')).catch(() => [])).toEqual([])
})
