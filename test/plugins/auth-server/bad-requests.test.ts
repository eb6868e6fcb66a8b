import { describe, expect, test } from 'vitest'
import { authWorld, CALLBACK, CHALLENGE, fakeUpstream } from './auth-world.ts'

/** A client of one kind, ready to ask. */
async function ready(metadata: object = {}) {
  const world = await authWorld()
  const client = await world.registered(metadata)
  const before = JSON.stringify(world.stored())
  return { ...world, client, unchanged: () => expect(JSON.stringify(world.stored())).toBe(before) }
}

const HTTPS = 'https://app.example/callback'

describe('an authorization request shows a page, and no client hears of it', () => {
  test.each([
    ['without a client', { client_id: undefined }],
    ['of a client that does not exist', { client_id: 'nobody' }],
    ['of a document, where documents are off', { client_id: 'https://app.example/client.json' }],
    ['without a redirect URI', { redirect_uri: undefined }],
    ['to another host', { redirect_uri: 'https://evil.example/callback' }],
    ['to another path on loopback', { redirect_uri: 'http://127.0.0.1/other' }],
    ['to another loopback name', { redirect_uri: 'http://localhost/callback' }],
    ['to loopback over https', { redirect_uri: 'https://127.0.0.1/callback' }],
    ['to a path below', { redirect_uri: `${CALLBACK}/below` }],
    ['to a path with dot segments', { redirect_uri: 'http://127.0.0.1/x/../callback' }],
    ['to a longer query', { redirect_uri: `${CALLBACK}?to=evil.example` }],
    ['to a fragment', { redirect_uri: `${CALLBACK}#here` }],
    ['to a host behind a user name', { redirect_uri: 'http://127.0.0.1@evil.example/callback' }],
    ['to a host behind a backslash', { redirect_uri: 'http://127.0.0.1\\@evil.example/callback' }],
    ['to another letter case', { redirect_uri: 'http://127.0.0.1/Callback' }],
    ['to a script', { redirect_uri: 'javascript:alert(1)' }],
    ['to two places joined by a line feed', { redirect_uri: `${CALLBACK}\nhttps://evil.example` }],
    ['with a state of 3 kB', { state: 's'.repeat(3000) }],
  ])('%s', async (_, fields) => {
    const { client, authorizeUrl, browser, unchanged } = await ready()
    const response = await browser().open(authorizeUrl(client, fields))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(response.headers.get('content-type')).toContain('text/html')
    expect(response.headers.getSetCookie()).toEqual([])
    unchanged()
  })

  test('with a parameter twice', async () => {
    const { client, authorizeUrl, browser, unchanged } = await ready()
    const twice = `${authorizeUrl(client)}&redirect_uri=https%3A%2F%2Fevil.example`
    const response = await browser().open(twice)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    unchanged()
  })
})

describe('an authorization request is refused, and the client is told', () => {
  test.each([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['with PKCE by an unnamed method', { code_challenge_method: undefined }, 'invalid_request'],
    ['with PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with a method in lower case', { code_challenge_method: 's256' }, 'invalid_request'],
    ['with a challenge that is too short', { code_challenge: CHALLENGE.slice(1) }, 'invalid_request'],
    ['with a challenge that is no base64url', { code_challenge: '+'.repeat(43) }, 'invalid_request'],
    ['without a response type', { response_type: undefined }, 'invalid_request'],
    ['for a token at once', { response_type: 'token' }, 'unsupported_response_type'],
    ['for a code and a token', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['in a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['in a form', { response_mode: 'form_post' }, 'invalid_request'],
    ['as a signed object', { request: 'eyJ' }, 'request_not_supported'],
    ['as an object elsewhere', { request_uri: 'http://169.254.169.254/' }, 'request_uri_not_supported'],
    ['for a scope that does not exist', { scope: 'admin' }, 'invalid_scope'],
    ['for a scope beside good ones', { scope: 'openid admin' }, 'invalid_scope'],
    ['for a part of a scope', { scope: 'open' }, 'invalid_scope'],
    ['for another server', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['for a server below', { resource: 'http://127.0.0.1/mcp/below' }, 'invalid_target'],
    ['for a fragment of a server', { resource: 'http://127.0.0.1/mcp#x' }, 'invalid_target'],
    ['with a nonce that is too long', { nonce: 'n'.repeat(513) }, 'invalid_request'],
    ['without a page', { prompt: 'none' }, 'login_required'],
  ])('%s', async (_, fields, error) => {
    const { origin, client, authorizeUrl, browser, unchanged } = await ready()
    const response = await browser().open(authorizeUrl(client, fields))
    const { href, searchParams } = new URL(response.headers.get('location') ?? 'none:')
    expect(href.startsWith(`${CALLBACK}?`)).toBe(true)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      error,
      state: 'state of the client',
      iss: origin,
    })
    unchanged()
  })

  test('a request with an error leads to no place on the web by itself', async () => {
    const { client, authorizeUrl, browser, unchanged } = await ready({ redirect_uris: [HTTPS] })
    const response = await browser().open(authorizeUrl(client, { redirect_uri: HTTPS, scope: 'admin' }))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(await response.text()).toContain(`href="${HTTPS}?error=invalid_scope&amp;`)
    unchanged()
  })
})

describe('a client is not registered', () => {
  test.each([
    ['without redirect URIs', { redirect_uris: undefined }, 'invalid_redirect_uri'],
    ['with none', { redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'with eleven',
      { redirect_uris: Array.from({ length: 11 }, (_, n) => `${HTTPS}/${n}`) },
      'invalid_redirect_uri',
    ],
    ['with one that is a number', { redirect_uris: [7] }, 'invalid_redirect_uri'],
    ['with http elsewhere', { redirect_uris: ['http://app.example/callback'] }, 'invalid_redirect_uri'],
    [
      'with a host that looks like loopback',
      { redirect_uris: ['http://127.0.0.1.evil.example/'] },
      'invalid_redirect_uri',
    ],
    ['with a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['with data', { redirect_uris: ['data:text/html,hi'] }, 'invalid_redirect_uri'],
    ['with a fragment', { redirect_uris: [`${HTTPS}#`] }, 'invalid_redirect_uri'],
    ['with a user name', { redirect_uris: ['https://app@evil.example/'] }, 'invalid_redirect_uri'],
    ['with an empty user name', { redirect_uris: ['https://@evil.example/'] }, 'invalid_redirect_uri'],
    ['with a directive in its host', { redirect_uris: ['https://a;sandbox/'] }, 'invalid_redirect_uri'],
    ['with a second policy in its host', { redirect_uris: ['https://a,sandbox/'] }, 'invalid_redirect_uri'],
    ['with a wildcard', { redirect_uris: ['https://*.example/'] }, 'invalid_redirect_uri'],
    ['with a relative one', { redirect_uris: ['/callback'] }, 'invalid_redirect_uri'],
    [
      'with a good one and a bad one',
      { redirect_uris: [HTTPS, 'ftp://app.example/'] },
      'invalid_redirect_uri',
    ],
    ['with a name of 257 characters', { client_name: 'n'.repeat(257) }, 'invalid_client_metadata'],
    ['with a name that turns text around', { client_name: 'Goo\u202egle' }, 'invalid_client_metadata'],
    ['with a name of two lines', { client_name: 'Good\nbad' }, 'invalid_client_metadata'],
    ['with a name that is a list', { client_name: ['Good'] }, 'invalid_client_metadata'],
    ['with a long software_id', { software_id: 'n'.repeat(257) }, 'invalid_client_metadata'],
    ['with a scope that does not exist', { scope: 'openid admin' }, 'invalid_client_metadata'],
    ['with keys of its own elsewhere', { jwks_uri: 'http://169.254.169.254/' }, 'invalid_client_metadata'],
    ['with a statement', { software_statement: 'eyJ' }, 'invalid_client_metadata'],
    [
      'with a key as its secret',
      { token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
    ],
    ['for the implicit grant', { grant_types: ['implicit'] }, 'invalid_client_metadata'],
    ['for passwords', { grant_types: ['authorization_code', 'password'] }, 'invalid_client_metadata'],
    ['for itself', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['for tokens without codes', { response_types: ['token'] }, 'invalid_client_metadata'],
  ])('%s', async (_, metadata, error) => {
    const { register, stored } = await authWorld()
    const response = await register(metadata)
    expect([response.status, await response.json()]).toMatchObject([400, { error }])
    expect(stored()).toEqual([])
  })

  test.each([
    ['that is no JSON', { body: '{' }, 400],
    ['that is a list', { body: '[]' }, 400],
    ['of 65 KiB', { body: JSON.stringify({ redirect_uris: [CALLBACK], more: 'm'.repeat(65 * 1024) }) }, 413],
    ['that came as a form', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
    [
      'that came as text, as a page of any site can send it',
      { headers: { 'content-type': 'text/plain' } },
      415,
    ],
  ])('by a body %s', async (_, init, status) => {
    const { register, stored } = await authWorld()
    expect((await register({}, init)).status).toBe(status)
    expect(stored()).toEqual([])
  })
})

describe('strangers fill no storage', () => {
  test('with authorization requests, which the browsers keep', async () => {
    const { client, browser, authorizeUrl, unchanged } = await ready()
    for (let n = 0; n < 20; n++) expect((await browser().open(authorizeUrl(client))).status).toBe(303)
    unchanged()
  })

  test('with clients that nobody logs in with, which are forgotten after two hours', async () => {
    const { client, registered, loggedIn, browser, authorizeUrl, clock } = await ready()
    const other = await registered()
    await loggedIn(client)
    clock.ms += 7_200_001
    expect((await browser().open(authorizeUrl(client))).status).toBe(303)
    expect((await browser().open(authorizeUrl(other))).status).toBe(400)
  })

  test('with an authorization request that is too long for a cookie', async () => {
    const { client, browser, authorizeUrl, unchanged } = await ready()
    const open = (state: string) => browser().open(authorizeUrl(client, { state }))
    const [kept, refused] = [await open('s'.repeat(2048)), await open('€'.repeat(900))]
    expect(kept.headers.get('location')).toContain('/oauth/callback')
    expect(kept.headers.getSetCookie()[0]?.length).toBeLessThan(4096)
    expect(refused.headers.get('location')).toContain('error=invalid_request')
    expect(refused.headers.getSetCookie()).toEqual([])
    unchanged()
  })
})

describe('a code gives no tokens', () => {
  test.each([
    ['that nobody issued', { code: 'c'.repeat(43) }, 'invalid_grant'],
    ['without the code', { code: undefined }, 'invalid_request'],
    ['with another verifier', { code_verifier: 'v'.repeat(43) }, 'invalid_grant'],
    ['with the challenge as its verifier', { code_verifier: CHALLENGE }, 'invalid_grant'],
    ['without a verifier', { code_verifier: undefined }, 'invalid_request'],
    ['with another redirect URI', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['without a redirect URI', { redirect_uri: undefined }, 'invalid_request'],
    ['for another server', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['to a client that does not exist', { client_id: 'nobody' }, 'invalid_client'],
    ['to nobody', { client_id: undefined }, 'invalid_client'],
    ['to a public client with a secret', { client_secret: 'guessed' }, 'invalid_client'],
    ['as a refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
    ['by a grant that does not exist', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['without a grant', { grant_type: undefined }, 'invalid_request'],
    [
      'by an exchange, where no client has a secret',
      { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' },
      'unsupported_grant_type',
    ],
  ])('%s, and is still good for its own client', async (_, change, error) => {
    const { client, authorized, token, codeFields, stored } = await ready()
    const code = (await authorized(client)).searchParams.get('code') ?? ''
    const before = JSON.stringify(stored())
    const response = await token({ ...codeFields(client, code), ...change })
    expect(await response.json()).toMatchObject({ error })
    expect([400, 401]).toContain(response.status)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(JSON.stringify(stored())).toBe(before)
    expect((await token(codeFields(client, code))).status).toBe(200)
  })

  test('to another client', async () => {
    const { client, registered, authorized, token, codeFields, stored } = await ready()
    const other = await registered()
    const code = (await authorized(client)).searchParams.get('code') ?? ''
    const response = await token(codeFields(other, code))
    expect(await response.json()).toMatchObject({ error: 'invalid_grant' })
    expect(stored().some(({ kind }) => kind === 'grant')).toBe(false)
  })

  test('after its ten minutes', async () => {
    const { client, authorized, token, codeFields, clock } = await ready()
    const code = (await authorized(client)).searchParams.get('code') ?? ''
    clock.ms += 600_001
    expect(await (await token(codeFields(client, code))).json()).toMatchObject({ error: 'invalid_grant' })
  })

  test('in a body that names a parameter twice', async () => {
    const { origin, client, stored } = await ready()
    const body = `grant_type=authorization_code&client_id=${client}&client_id=other&code=x`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await fetch(`${origin}/oauth/token`, { method: 'POST', headers, body })
    expect(await response.json()).toMatchObject({ error: 'invalid_request' })
    expect(stored()).toHaveLength(1)
  })

  test('in the query, which logs of others hold', async () => {
    const { origin, client, authorized, codeFields } = await ready()
    const code = (await authorized(client)).searchParams.get('code') ?? ''
    const query = new URLSearchParams(codeFields(client, code) as Record<string, string>)
    expect((await fetch(`${origin}/oauth/token?${query}`)).status).toBe(405)
    expect((await fetch(`${origin}/oauth/token?${query}`, { method: 'POST' })).status).toBe(415)
  })
})

describe('a refresh token gives no tokens', () => {
  test.each([
    ['with more scopes than were granted', { scope: 'openid email profile' }, 'invalid_scope'],
    ['for another server', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['to a client that does not exist', { client_id: 'nobody' }, 'invalid_client'],
  ])('%s, and stays good', async (_, change, error) => {
    const { client, loggedIn, refresh, stored } = await ready()
    const { refresh_token: kept } = await loggedIn(client, { scope: 'openid email' })
    const before = JSON.stringify(stored())
    expect(await (await refresh(client, kept, change)).json()).toMatchObject({ error })
    expect(JSON.stringify(stored())).toBe(before)
    expect((await refresh(client, kept)).status).toBe(200)
  })

  test('to another client, whose attempt does not end the login', async () => {
    const { client, registered, loggedIn, refresh } = await ready()
    const other = await registered()
    const { refresh_token: kept } = await loggedIn(client)
    expect(await (await refresh(other, kept)).json()).toMatchObject({ error: 'invalid_grant' })
    expect((await refresh(client, kept)).status).toBe(200)
  })

  test.each([
    ['of a later generation', (token: string) => token.replace(/\.0\./, '.1.')],
    ['with another signature', (token: string) => `${token.slice(0, -3)}AAA`],
    ['of another grant', (token: string) => `${'A'.repeat(22)}${token.slice(22)}`],
    ['with more behind it', (token: string) => `${token}A`],
  ])('%s, and the login goes on', async (_, forge) => {
    const { client, loggedIn, refresh } = await ready()
    const { refresh_token: kept } = await loggedIn(client)
    expect(await (await refresh(client, forge(kept))).json()).toMatchObject({ error: 'invalid_grant' })
    expect((await refresh(client, kept)).status).toBe(200)
  })

  test('after seven days without a use', async () => {
    const { client, loggedIn, refresh, clock } = await ready()
    const { refresh_token: kept } = await loggedIn(client)
    clock.ms += 7 * 86_400_000 + 1
    expect((await refresh(client, kept)).status).not.toBe(200)
  })
})

describe('a login is not finished', () => {
  async function begun() {
    const world = await ready()
    const tab = world.browser()
    const response = await tab.open(world.authorizeUrl(world.client))
    const callback = response.headers.get('location') ?? ''
    const before = JSON.stringify(world.stored())
    return { ...world, tab, callback, still: () => expect(JSON.stringify(world.stored())).toBe(before) }
  }

  test('with a state that was never given', async () => {
    const { tab, callback, still } = await begun()
    const response = await tab.open(callback.replace(/state=[^&]+/, 'state=foreign'))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    still()
  })

  test('without a state', async () => {
    const { tab, origin, still } = await begun()
    expect((await tab.open(`${origin}/oauth/callback?code=default-code`)).status).toBe(400)
    still()
  })

  test('with two states', async () => {
    const { tab, callback, still } = await begun()
    expect((await tab.open(`${callback}&state=other`)).status).toBe(400)
    still()
  })

  test('in another browser than began it', async () => {
    const { browser, callback, still } = await begun()
    const response = await browser().open(callback)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(await response.text()).toContain('another browser')
    still()
  })

  test('with the cookie of another login', async () => {
    const { tab, callback, still } = await begun()
    const [name = ''] = tab.cookies.keys()
    tab.cookies.set(name, 'c'.repeat(43))
    expect((await tab.open(callback)).status).toBe(400)
    still()
  })

  test('a second time', async () => {
    const { tab, callback } = await begun()
    expect((await tab.open(callback)).status).toBe(303)
    expect((await tab.open(callback)).status).toBe(400)
  })

  test('after ten minutes', async () => {
    const { tab, callback, clock } = await begun()
    clock.ms += 600_001
    expect((await tab.open(callback)).status).toBe(400)
  })

  test('through the page of the consent, which is a later step', async () => {
    const { tab, origin, callback, still } = await begun()
    const state = new URL(callback).searchParams.get('state') ?? ''
    expect((await tab.open(`${origin}/oauth/consent?request=${state}`)).status).toBe(400)
    still()
  })
})

describe('nobody consents', () => {
  async function asked() {
    const world = await ready()
    const tab = world.browser()
    const { response, url } = await tab.follow(world.authorizeUrl(world.client))
    return { ...world, tab, url, response, page: await response.text() }
  }
  const codes = (stored: () => readonly { kind: string }[]) =>
    stored().filter(({ kind }) => kind === 'code' || kind === 'consent')

  test('by opening the page', async () => {
    const { tab, url, stored } = await asked()
    expect((await tab.open(`${url}&decision=allow`)).status).toBe(200)
    expect(codes(stored)).toEqual([])
  })

  test('in another browser', async () => {
    const { browser, page, stored } = await asked()
    const { response } = await browser().press(page, 'allow')
    expect(response.status).toBe(400)
    expect(codes(stored)).toEqual([])
  })

  test.each([
    ['without the token of the form', { token: undefined }],
    ['with a forged token', { token: 'A'.repeat(43) }],
    ['for a request that does not exist', { request: 'A'.repeat(43) }],
    ['without a request', { request: undefined }],
    ['with another word', { decision: 'yes' }],
  ])('%s', async (_, change) => {
    const { tab, page, stored } = await asked()
    expect((await tab.press(page, 'allow', change)).response.status).toBe(400)
    expect(codes(stored)).toEqual([])
  })

  test('by a form on the page of another site', async () => {
    const { tab, origin, page, stored } = await asked()
    const body = new URLSearchParams({
      decision: 'allow',
      request: /name="request" value="([^"]+)/.exec(page)?.[1] ?? '',
    })
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    const response = await tab.open(`${origin}/oauth/consent`, { method: 'POST', body, headers })
    expect(response.status).toBe(403)
    expect(codes(stored)).toEqual([])
  })

  test('twice', async () => {
    const { tab, page, stored } = await asked()
    await tab.press(page, 'allow')
    expect((await tab.press(page, 'allow')).response.status).toBe(400)
    expect(stored().filter(({ kind }) => kind === 'code')).toHaveLength(1)
  })

  test('by refusing', async () => {
    const { tab, page, stored, origin } = await asked()
    const { searchParams } = new URL((await tab.press(page, 'refuse')).url)
    expect(Object.fromEntries(searchParams)).toMatchObject({ error: 'access_denied', iss: origin })
    expect(codes(stored)).toEqual([])
  })

  test('by refusing, which leads nobody to an address that anybody can register', async () => {
    const world = await ready()
    const redirect_uri = 'https://evil.example/landing'
    const client = await world.registered({ redirect_uris: [redirect_uri] })
    const tab = world.browser()
    const { response } = await tab.follow(world.authorizeUrl(client, { redirect_uri }))
    const refused = await tab.press(await response.text(), 'refuse')
    expect([refused.response.status, refused.response.headers.get('location')]).toEqual([400, null])
    const page = await refused.response.text()
    expect(page).toContain('You refused.')
    expect(page).toContain('go back to evil.example')
    expect(tab.cookies.size).toBe(0)
    expect(codes(world.stored)).toEqual([])
  })

  test('in a frame, with a script, or on a page that leaks its address', async () => {
    const { response } = await asked()
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/script-src|unsafe/)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('referrer-policy')).toBe('same-origin')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('to a name that is markup', async () => {
    const { registered, browser, authorizeUrl } = await authWorld({
      upstreams: [fakeUpstream('default', () => ({ name: '<img src=x onerror=alert(1)>' }))],
    })
    const client = await registered({ client_name: '"><script>alert(1)</script>' })
    const { response } = await browser().follow(authorizeUrl(client))
    const page = await response.text()
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).not.toMatch(/<script|<img/)
  })
})
