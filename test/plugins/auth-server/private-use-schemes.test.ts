import { describe, expect, test } from 'vitest'
import { authWorld } from './auth-world.ts'

const GOOD = [
  'cursor://anysphere.cursor-retrieval/oauth/user-notes/callback',
  'vscode://vscode.github-authentication/did-authenticate',
  'vscode-insiders://some.extension/callback',
  'com.example.app:/callback',
  'com.example.app://callback',
  'com.example.app:///callback?from=keelson',
  'com.example-labs.app2:/oauth2redirect/provider',
]

describe('a client that claims a scheme of its own', () => {
  test.each(GOOD)('logs in at %s; the person is asked each time, and told the scheme', async redirectUri => {
    const world = await authWorld()
    const client = await world.registered({ redirect_uris: [redirectUri] })
    const scheme = new URL(redirectUri).protocol
    for (const _ of ['first', 'second']) {
      const tab = world.browser()
      const { response, url } = await tab.follow(world.authorizeUrl(client, { redirect_uri: redirectUri }))
      expect(url.startsWith(`${world.origin}/oauth/consent?`)).toBe(true)
      expect(response.headers.get('content-security-policy')).toContain(`form-action 'self' ${scheme};`)
      const page = await response.text()
      expect(page).toContain(`the program on this computer that opens links with ${scheme}<`)
      const agreed = await tab.press(page, 'allow')
      expect(agreed.url.startsWith(redirectUri)).toBe(true)
      const code = new URL(agreed.url).searchParams.get('code') ?? ''
      const fields = { ...world.codeFields(client, code), redirect_uri: redirectUri }
      expect((await world.token(fields)).status).toBe(200)
    }
    expect(world.stored().some(({ kind }) => kind === 'consent')).toBe(false)
  })

  test('is told of an error on a page, whose link leads there when the person says so', async () => {
    const world = await authWorld()
    const redirectUri = 'com.example.app:/callback'
    const client = await world.registered({ redirect_uris: [redirectUri] })
    const url = world.authorizeUrl(client, { redirect_uri: redirectUri, scope: 'admin' })
    const response = await world.browser().open(url)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    const page = await response.text()
    expect(page).toContain('href="com.example.app:/callback?error=invalid_scope&amp;')
    expect(page).toContain('opens links with com.example.app:')
  })

  test.each([
    ['another path', 'com.example.app:/other'],
    ['another host', 'com.example.app://callback'],
    ['capitals', 'COM.example.app:/callback'],
    ['a longer scheme', 'com.example.app.evil:/callback'],
    ['another scheme', 'cursor:/callback'],
    ['a query', 'com.example.app:/callback?a=b'],
  ])('gets no code at %s', async (_, redirectUri) => {
    const world = await authWorld()
    const client = await world.registered({ redirect_uris: ['com.example.app:/callback'] })
    const response = await world.browser().open(world.authorizeUrl(client, { redirect_uri: redirectUri }))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  test('has no secret', async () => {
    const world = await authWorld({ config: { allow_confidential_clients: true } })
    const metadata = { redirect_uris: [GOOD[0]], token_endpoint_auth_method: 'client_secret_basic' }
    const response = await world.register(metadata)
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_redirect_uri' }])
    expect(world.stored()).toEqual([])
  })
})

const BAD = [
  ...['javascript:alert(1)', 'javascript:/alert(1)', 'javascript://x/%0aalert(1)', 'JavaScript:/alert(1)'],
  ...['java\tscript:/alert(1)', ' javascript:/alert(1)', 'javascript%3A/alert(1)', 'java%73cript:/alert(1)'],
  ...[
    'data:text/html,hi',
    'data:/text/html,hi',
    'DATA:/x',
    'vbscript:/x',
    'file:///etc/passwd',
    'File:/etc/x',
  ],
  ...[
    'blob:https://app.example/1',
    'blob:/x',
    'about:blank',
    'about:/blank',
    'filesystem:https://a.example/',
  ],
  ...[
    'view-source:/x',
    'chrome://settings',
    'chrome-extension://abc/x',
    'moz-extension://abc/x',
    'res://x/y',
  ],
  ...[
    'ftp://app.example/',
    'ws://app.example/',
    'wss://app.example/',
    'mailto:a@b.example',
    'tel:/1',
    'sms:/1',
  ],
  ...[
    'intent://x/y',
    'ms-settings:/x',
    'ssh://app.example/',
    'ldap://app.example/',
    'jar:/x',
    'myapp:/callback',
  ],
  ...['http:/app.example/', 'https:/app.example/', 'http:app.example', 'http:com.example.app/callback'],
  ...[
    'Cursor://anysphere.cursor-retrieval/cb',
    'CURSOR://anysphere.cursor-retrieval/cb',
    'COM.EXAMPLE.APP:/cb',
  ],
  ...['cursor://user@anysphere.cursor-retrieval/cb', 'cursor://@anysphere.cursor-retrieval/cb'],
  ...['com.example.app:/cb#fragment', 'com.example.app:/cb#', 'com.example.app:cb', 'com.example.app:'],
  ...[
    'com.example.app:/a/../cb',
    'com.example.app:/%0d%0aevil',
    'com.example.app:/%00',
    'com.example.app:/%7F',
  ],
  ...['com.example.app:/c b', 'com.example.app:/cb\n', '\tcom.example.app:/cb', 'com.example.app :/cb'],
  ...['com.example.app%3A/cb', '.example.app:/cb', 'com..app:/cb', 'com.example.:/cb', '1com.example:/cb'],
  ...[
    'com.exämple.app:/cb',
    'com.example.app:/cb"',
    'com.example.app:\\cb',
    'com.example.app://a;sandbox/cb',
  ],
  ...[
    'com.example.app://a%2fb/cb',
    'cursor.:/cb',
    '//anysphere.cursor-retrieval/cb',
    ':/cb',
    'com.example_app:/cb',
  ],
]

test.each(BAD)('no client is registered with %j', async redirectUri => {
  const world = await authWorld({ config: { allow_confidential_clients: true } })
  for (const redirectUris of [[redirectUri], [GOOD[0], redirectUri]]) {
    const response = await world.register({ redirect_uris: redirectUris })
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_redirect_uri' }])
  }
  expect(world.stored()).toEqual([])
})
