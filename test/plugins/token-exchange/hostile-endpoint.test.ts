import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { requestToken } from '../../../plugins/token-exchange/request-token.ts'
import { rawServer, testServer } from '../proxy/test-proxy.ts'

const send =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }

const ask = (url: string, more = {}) =>
  requestToken({ url, mayBePrivate: true, ...more }, { grant_type: 'a' })

describe('what a token endpoint may not do', () => {
  test('redirect tokens elsewhere', async () => {
    const asked: unknown[] = []
    const elsewhere = await testServer((request, response) => {
      asked.push(request.url)
      response.end()
    })
    const endpoint = await testServer(send(307, '', { location: elsewhere }))
    expect(await ask(endpoint)).toEqual({ kind: 'wrong', problem: 'it redirects' })
    expect(asked).toEqual([])
  })

  test('be at a private address that the user has not named', async () => {
    const endpoint = await testServer(send(200, '{}'))
    const { kind, problem } = { problem: '', ...(await ask(endpoint, { mayBePrivate: false })) }
    expect([kind, problem]).toEqual(['wrong', '127.0.0.1 is a private address'])
  })

  test('be reached in plain text elsewhere than on this machine', async () => {
    const { kind, problem } = { problem: '', ...(await ask('http://192.0.2.1/token')) }
    expect([kind, problem]).toEqual(['wrong', 'http is not allowed here, only https'])
  })

  test('send more than a few tokens', async () => {
    const endpoint = await testServer(send(200, `{"access_token":"${'a'.repeat(200_000)}"}`))
    expect(await ask(endpoint)).toMatchObject({ kind: 'wrong' })
  })

  test('choose what callers and the log read', async () => {
    const body = JSON.stringify({ error: 'a"\r\n\u001b[31m<b>'.repeat(20), error_description: 'secret' })
    const response = await ask(await testServer(send(400, body)))
    expect(response).toEqual({ kind: 'refused', code: expect.stringMatching(/^[\w.:/-]{1,60}$/) })
  })

  test('keep callers away for longer than an hour', async () => {
    const endpoint = await testServer(send(503, '', { 'retry-after': '999999999' }))
    expect(await ask(endpoint)).toEqual({
      kind: 'away',
      problem: 'it responds with 503',
      retrySeconds: 3600,
    })
  })
})

describe('a response without a token', () => {
  test.each([
    ['a page', 200, '<html>', 'wrong'],
    ['a list', 200, '[]', 'wrong'],
    ['nothing', 204, '', 'wrong'],
    ['an error without a code', 403, '{}', 'wrong'],
    ['an OAuth error with status 200', 200, '{"error":"invalid_grant"}', 'refused'],
    ['an OAuth error', 401, '{"error":"invalid_client"}', 'refused'],
    ['a trouble of its own', 400, '{"error":"temporarily_unavailable"}', 'away'],
    ['too many requests', 429, '{"error":"invalid_grant"}', 'away'],
    ['a failure', 500, '{"error":"invalid_grant"}', 'away'],
  ])('%s', async (_, status, body, kind) => {
    expect((await ask(await testServer(send(status, body)))).kind).toBe(kind)
  })

  test('a connection that ends in the middle', async () => {
    const endpoint = await rawServer(socket => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"acc'))
    })
    expect((await ask(endpoint)).kind).toBe('away')
  })
})

test('the client is named in the form without a secret, and in the header with one', async () => {
  const asked: { authorization: string | undefined; body: string }[] = []
  const endpoint = await testServer((request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      asked.push({ authorization: request.headers.authorization, body })
      response.writeHead(200).end('{}')
    })
  })

  await ask(endpoint)
  await ask(endpoint, { clientId: 'an id' })
  await ask(endpoint, { clientId: 'an:id', clientSecret: 'a+b' })

  expect(asked).toEqual([
    { authorization: undefined, body: 'grant_type=a' },
    { authorization: undefined, body: 'grant_type=a&client_id=an+id' },
    { authorization: `Basic ${Buffer.from('an%3Aid:a%2Bb').toString('base64')}`, body: 'grant_type=a' },
  ])
})
