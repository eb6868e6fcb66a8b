import { describe, expect, test } from 'vitest'
import { collectLogin } from '../../../plugins/registry/collect-login.ts'
import type { RegistryPlace } from '../../../plugins/registry/entry-places.ts'
import type { OAuthConfig } from '../../../plugins/registry/formats/server-facts.ts'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Ask } from '../../../src/contracts/target.ts'

const FILE: RegistryPlace = { kind: 'file', place: '/r.json', allowsPrivate: false }
const PUBLIC: RegistryPlace = { kind: 'api', place: 'https://1.1.1.1', allowsPrivate: false }
const ENDPOINTS = { authorize_url: 'https://1.1.1.1/authorize', token_url: 'https://1.1.1.1/token' }

function collect(
  oauth_config: OAuthConfig & Record<string, unknown>,
  options: { from?: RegistryPlace; given?: RunConfig['remote_auth_config']; header?: string; ask?: Ask } = {},
) {
  const { from = FILE, given, header, ask } = options
  const said: string[] = []
  const app = { log: { info: (text: string) => void said.push(text) } } as unknown as App
  const header_forward = header ? { add_headers_from_secret: { [header]: 'MINE' } } : {}
  const asked = { remote_auth_config: given, header_forward } as RunConfig
  const entry = { name: 'a/far', url: 'https://far.example/mcp', oauth_config }
  return collectLogin(app, entry, from, { asked, ask }).then(login => ({ login, said }))
}

test('what an entry says of the login is taken, and the user is told where it is', async () => {
  const oauth = {
    issuer: 'https://1.1.1.1',
    client_id: 'theirs',
    resource: 'https://far.example',
    scopes: ['read'],
    oauth_params: { audience: 'a' },
    callback_port: 9876,
  }
  const { login, said } = await collect({ ...oauth, use_pkce: false })
  expect(login).toEqual(oauth)
  expect(said).toEqual(['The entry of "a/far" says to log in at https://1.1.1.1 as the client theirs.'])
})

test('an entry of a public registry names public places only, also when it is logged in', async () => {
  expect((await collect(ENDPOINTS, { from: PUBLIC })).login).toEqual({ ...ENDPOINTS, must_be_public: true })
  for (const issuer of ['http://127.0.0.1:1', 'https://10.0.0.1', 'https://localhost']) {
    await expect(collect({ issuer }, { from: PUBLIC })).rejects.toMatchObject({ code: 'entry_refused' })
  }
})

test('an entry names no secrets, no files and no manners of the login', async () => {
  const { login } = await collect({
    ...{ issuer: 'https://1.1.1.1', client_id: 'a', callback_port: 80 },
    ...{ client_secret: 'MINE,target=oauth_secret', client_secret_file: '/etc/passwd', bearer_token: 'MINE' },
    ...{ bearer_token_file: '/etc/passwd', private_key_file: '/etc/passwd' },
    ...{ skip_browser: true, timeout: '100h', cached_client_id: 'x', must_be_public: false },
  })
  expect(login).toEqual({ issuer: 'https://1.1.1.1', client_id: 'a' })
})

test.each([
  [{ resource: 'https://bank.example' }, 'tokens of another server'],
  [{ resource: 'https://far.example/of-somebody-else' }, 'tokens of another server'],
  [{ resource: 'https://far.example/mcp/of-somebody-else' }, 'tokens of another server'],
  [{ resource: 'https://far.example/mcp?tenant=of-somebody-else' }, 'tokens of another server'],
  [{ issuer: 'http://login.example' }, 'a login is at an https URL'],
  [{ ...ENDPOINTS, authorize_url: 'javascript:alert(1)' }, 'a login is at an https URL'],
])('an entry that asks for too much is refused: %j', async (oauth, problem) => {
  await expect(collect(oauth)).rejects.toThrow(problem)
})

describe('what the user says wins', () => {
  test('a place of theirs takes away the place and the client of the entry', async () => {
    const given = { issuer: 'https://mine.example' }
    const { login } = await collect({ ...ENDPOINTS, client_id: 'theirs', scopes: ['read'] }, { given })
    expect(login).toEqual({ scopes: ['read'] })
  })

  test('a bearer token, or a header in its place, takes away all of it', async () => {
    const { login } = await collect(ENDPOINTS, { given: { bearer_token_file: '/token' } })
    expect(login).toBeUndefined()
    expect((await collect(ENDPOINTS, { header: 'AUTHORIZATION' })).login).toBeUndefined()
  })

  test('each other member', async () => {
    const given = {
      ...{ client_id: 'mine', resource: 'https://any.example', scopes: ['write'], callback_port: 7000 },
      oauth_params: { audience: 'mine' },
    }
    const oauth = { issuer: 'https://1.1.1.1', client_id: 'theirs', resource: 'https://bank.example' }
    const more = { scopes: ['read'], callback_port: 9000, oauth_params: { audience: 'a', b: 'b' } }
    const { login } = await collect({ ...oauth, ...more }, { given })
    expect(login).toEqual({ issuer: 'https://1.1.1.1', oauth_params: { audience: 'mine', b: 'b' } })
  })
})

test('where nobody can register a client, the person is asked for theirs', async () => {
  const questions: [string, boolean][] = []
  const ask: Ask = async (question, { hidden = false } = {}) => {
    questions.push([question, hidden])
    return hidden ? 'the-secret' : 'my-client'
  }
  const { login } = await collect(ENDPOINTS, { ask })
  expect(login).toEqual({ ...ENDPOINTS, client_id: 'my-client', client_secret: 'the-secret' })
  expect(questions).toEqual([
    ['OAuth client ID at https://1.1.1.1/authorize', false],
    ['Its secret, if it has one', true],
  ])
  expect((await collect(ENDPOINTS)).login).toEqual(ENDPOINTS)
})
