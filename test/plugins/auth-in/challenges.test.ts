import { describe, expect, test } from 'vitest'
import { rpc } from '../proxy/test-proxy.ts'
import { startIssuer } from './issuer.ts'
import { loginProxy, RESOURCE, refusalOf } from './login-proxy.ts'

const METADATA = 'https://tools.test/.well-known/oauth-protected-resource/mcp'
const post = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: rpc('tools/list', 1), headers })

test('who brings no token is told where to log in, and for what', async () => {
  const issuer = await startIssuer()
  const { url } = await loginProxy({ issuer: issuer.url, scopes: ['read', 'write'] })

  const { status, challenge } = await refusalOf(await post(url))

  expect(status).toBe(401)
  expect(challenge).toBe(
    `Bearer realm="${issuer.url}", resource_metadata="${METADATA}", scope="read write", ` +
      'error="invalid_request", error_description="A bearer token is needed."',
  )
})

describe('scopes', () => {
  test.each<[string, Record<string, unknown>]>([
    ['in a text', { scope: 'openid write read' }],
    ['in the list scp', { scp: ['read', 'write'] }],
    ['in both', { scope: 'read', scp: 'write' }],
  ])('%s are enough', async (_, claims) => {
    const issuer = await startIssuer()
    const { url } = await loginProxy({ issuer: issuer.url, scopes: ['read', 'write'] })

    const headers = { authorization: `Bearer ${await issuer.sign(claims)}` }

    expect((await post(url, headers)).status).toBe(200)
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['lacks one', { scope: 'read' }, 'lacks the scope write'],
    ['has none', {}, 'lacks the scopes read, write'],
    ['has one that contains it', { scope: 'read write:all' }, 'lacks the scope write'],
    ['has it in capitals', { scope: 'read WRITE' }, 'lacks the scope write'],
    ['has them with a comma', { scope: 'read,write' }, 'lacks the scopes read, write'],
    ['has them in an object', { scope: { read: true, write: true } }, 'lacks the scopes'],
  ])('a token that %s is refused, and its client learns what to request', async (_, claims, problem) => {
    const issuer = await startIssuer()
    const { url, reached } = await loginProxy({ issuer: issuer.url, scopes: ['read', 'write'] })
    const headers = { authorization: `Bearer ${await issuer.sign(claims)}` }

    const { status, parameters } = await refusalOf(await post(url, headers))

    expect(status).toBe(403)
    expect(parameters).toMatchObject({
      error: 'insufficient_scope',
      scope: 'read write',
      resource_metadata: METADATA,
      error_description: expect.stringContaining(problem),
    })
    expect(reached).toEqual([])
  })

  test('of OpenID Connect are announced and not required', async () => {
    const issuer = await startIssuer()
    const { url } = await loginProxy({ issuer: issuer.url, scopes: ['openid', 'email'] })

    expect((await post(url, { authorization: `Bearer ${await issuer.sign()}` })).status).toBe(200)
    expect((await refusalOf(await post(url))).parameters.scope).toBe('openid email')
  })
})

test('an account that is not allowed is not told to request other scopes', async () => {
  const issuer = await startIssuer()
  const { url, reached } = await loginProxy({ issuer: issuer.url, scopes: ['read'], allow: ['sub=eve'] })
  const headers = { authorization: `Bearer ${await issuer.sign({ scope: 'read' })}` }

  const { status, parameters } = await refusalOf(await post(url, headers))

  expect([status, parameters.scope]).toEqual([403, undefined])
  expect(reached).toEqual([])
})

describe('the document about the resource', () => {
  test.each(['', '/mcp', '/other/path'])('is at the well-known path%s', async path => {
    const issuer = await startIssuer()
    const { proxy } = await loginProxy({ issuer: issuer.url })

    const response = await fetch(`${proxy.origin}/.well-known/oauth-protected-resource${path}`)

    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response.json()).toEqual({
      resource: RESOURCE,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ['header'],
      scopes_supported: ['openid'],
    })
  })

  test('is not at paths that begin alike', async () => {
    const issuer = await startIssuer()
    const { proxy } = await loginProxy({ issuer: issuer.url })

    expect((await fetch(`${proxy.origin}/.well-known/oauth-protected-resources`)).status).toBe(404)
    expect((await fetch(`${proxy.origin}/.well-known/openid-configuration`)).status).toBe(404)
  })
})

describe('for pages of an allowed origin', () => {
  const arrange = async () => {
    const issuer = await startIssuer()
    const { proxy, url, reached } = await loginProxy({ issuer: issuer.url })
    return { issuer, proxy, url, reached, origin: proxy.origin }
  }

  test('a refusal can be read, with where to log in', async () => {
    const { url, origin } = await arrange()

    const { headers } = await post(url, { origin })

    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate')
  })

  test('a preflight needs no token and does not reach the server', async () => {
    const { url, origin, proxy, reached } = await arrange()
    const headers = { origin, 'access-control-request-method': 'POST' }

    const asked = await fetch(url, { method: 'OPTIONS', headers })
    const metadata = `${proxy.origin}/.well-known/oauth-protected-resource/mcp`
    const document = await fetch(metadata, { method: 'OPTIONS', headers })

    expect([asked.status, document.status]).toEqual([204, 204])
    expect(asked.headers.get('access-control-allow-headers')).toContain('Authorization')
    expect(document.headers.get('access-control-allow-origin')).toBe(origin)
    expect(document.headers.get('access-control-max-age')).toBe('86400')
    expect(reached).toEqual([])
  })

  test('OPTIONS that is no preflight needs a token', async () => {
    const { url, reached } = await arrange()

    expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(401)
    expect(reached).toEqual([])
  })
})

test('pages of other origins get nothing', async () => {
  const issuer = await startIssuer()
  const { url, proxy } = await loginProxy({ issuer: issuer.url })
  const headers = { origin: 'https://evil.test', 'access-control-request-method': 'POST' }

  for (const at of [url, `${proxy.origin}/.well-known/oauth-protected-resource`]) {
    const response = await fetch(at, { method: 'OPTIONS', headers })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, null])
  }
})

test('while keys cannot be fetched nobody is refused for good', async () => {
  const issuer = await startIssuer()
  const { url, reached } = await loginProxy({ issuer: issuer.url })
  const headers = { authorization: `Bearer ${await issuer.sign()}` }
  issuer.instead.set('/jwks', (_request, response) => void response.writeHead(500).end())

  const response = await post(url, headers)

  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  expect(reached).toEqual([])
})
