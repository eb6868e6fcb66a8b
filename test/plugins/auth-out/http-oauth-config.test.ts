import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { httpWorld } from './http-world.ts'

const path = '/api/v1beta/workloads'
const SECRET = 'a-client-secret-that-nobody-may-see'

const configOf = async (home: { path: string }, name: string) =>
  JSON.parse(await readFile(join(home.path, '.local/state/keelson/runconfigs', `${name}.json`), 'utf8'))

test('what oauth_config says is used for the login, and the details show it without secrets', {
  timeout: 120_000,
}, async () => {
  const { home, provider, create, login, details, untilIs } = await httpWorld()
  await home.ok(['secret', 'set', 'CLIENT'], { input: SECRET })
  const oauth_config = {
    issuer: provider.issuer,
    client_id: 'mine',
    client_secret: { name: 'CLIENT', target: 'oauth_secret' },
    scopes: ['openid', 'read'],
    resource: 'https://api.example',
    oauth_params: { audience: 'them' },
    callback_port: 18_666,
    skip_browser: true,
  }

  const stolen = { ...oauth_config, oauth_params: { state: 'not-yours' } }
  expect((await create('far', { oauth_config: stolen })).text).toContain('"state"')
  expect((await create('far', { oauth_config: { ...oauth_config, use_pkce: true } })).status).toBe(201)

  expect((await details('far')).oauth_config).toEqual(oauth_config)
  expect(JSON.stringify(await configOf(home, 'far'))).not.toContain(SECRET)
  await untilIs('far', 'unauthenticated')
  const url = new URL(((await login('POST', 'far')).json() as { url: string }).url)
  expect(url.origin).toBe(provider.issuer)
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    client_id: 'mine',
    scope: 'openid read',
    resource: 'https://api.example',
    audience: 'them',
    redirect_uri: 'http://localhost:18666/callback',
    code_challenge_method: 'S256',
  })
})

test('an edit replaces what the details show of the login, and keeps the rest', {
  timeout: 120_000,
}, async () => {
  const { home, api, server, create, details } = await httpWorld()
  await home.ok(['secret', 'set', 'CLIENT'], { input: SECRET })
  const client_secret = { name: 'CLIENT', target: 'oauth_secret' }
  await create('far', { oauth_config: { client_id: 'mine', client_secret, oauth_params: { a: '1' } } })
  const edit = async (oauth_config?: object) => {
    const body = { url: server.mcp, ...(oauth_config ? { oauth_config } : {}) }
    expect((await api.ask('POST', `${path}/far/edit`, body)).status).toBe(200)
    return (await details('far')).oauth_config
  }

  expect(await edit()).toEqual({ client_id: 'mine', client_secret, oauth_params: { a: '1' } })
  expect(await edit({ client_id: 'other' })).toEqual({ client_id: 'other' })
  expect(await edit({})).toEqual({})
})

const REFUSED: readonly (readonly [oauth_config: object, problem: string])[] = [
  [{ use_pkce: false, client_id: 'a' }, 'PKCE protects every login'],
  [{ issuer: 'http://login.example' }, 'issuer of the login is an https URL'],
  [{ authorize_url: 'javascript:alert(1)', token_url: 'https://a.example' }, 'authorize_url of the login'],
  [{ authorize_url: 'https://a.example' }, 'go together'],
  [{ resource: 'not-a-url' }, 'resource of the login'],
  [{ resource: 'https://a.example/#x' }, 'resource of the login'],
  [{ callback_port: 80 }, 'callback_port of the login is 1024 or more'],
  [{ client_id: 'a', client_secret: { name: 'MISSING', target: 'x' } }, 'There is no secret "MISSING"'],
  [{ issuer: 'https://a.example', token_url: 'https://a.example/t' }, 'do not go together'],
]

test('what cannot be used is refused in words, and nothing is made', async () => {
  const { api, create } = await httpWorld()

  const shown = await Promise.all(REFUSED.map(([oauth_config]) => create('far', { oauth_config })))

  expect(shown.map(({ status, text }) => [status, text])).toEqual(
    REFUSED.map(([, problem]) => [400, expect.stringContaining(problem)]),
  )
  const made = (await api.ask('GET', `${path}?all=true`)).json() as { workloads: [] }
  expect(made.workloads).toEqual([])
})
