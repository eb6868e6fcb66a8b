import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { testServer } from '../proxy/test-proxy.ts'
import { authWorld, CALLBACK } from './auth-world.ts'

type Respond = (request: IncomingMessage, response: ServerResponse, url: string) => void

/** A server that accepts documents from loopback, and a place with one. */
async function world(respond: Respond, config: object = {}) {
  let fetched = 0
  let url = ''
  const origin = await testServer((request, response) => {
    fetched++
    respond(request, response, url)
  })
  url = `${origin}/client.json`
  const made = await authWorld({ config: { cimd: { enabled: true, allow_loopback: true }, ...config } })
  const ask = (id = url, fields = {}) => made.browser().follow(made.authorizeUrl(id, fields))
  return { ...made, url, ask, fetched: () => fetched }
}

const json = (response: ServerResponse, value: unknown) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const good: Respond = (_, response, url) =>
  json(response, {
    client_id: url,
    client_name: 'Described',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'urn:other'],
  })

test('a client that a document describes logs in without registering, and its document is fetched once', async () => {
  const { url, ask, authorized, token, codeFields, fetched, stored, origin } = await world(good)
  const page = await (await ask()).response.text()
  expect(page).toContain('Described')
  expect(page).toContain(new URL(url).host)
  const code = (await authorized(url)).searchParams.get('code') ?? ''
  expect((await token(codeFields(url, code))).status).toBe(200)
  expect(fetched()).toBe(1)
  expect(stored().some(({ kind }) => kind === 'client')).toBe(false)
  const metadata = await (await fetch(`${origin}/.well-known/oauth-authorization-server`)).json()
  expect(metadata).toMatchObject({ client_id_metadata_document_supported: true })
})

test('a described program on this computer is asked about each time, since any program can say that it is the one', async () => {
  const { url, authorized, browser, authorizeUrl, origin } = await world(good)
  await authorized(url)
  const again = await browser().follow(authorizeUrl(url))
  expect(again.url.startsWith(`${origin}/oauth/consent?`)).toBe(true)
})

test('a document is fetched again after five minutes', async () => {
  const { ask, fetched, clock } = await world(good)
  await ask()
  clock.ms += 300_001
  await ask()
  expect(fetched()).toBe(2)
})

test('many who come at once cause one fetch', async () => {
  const { ask, fetched } = await world(good)
  await Promise.all(Array.from({ length: 10 }, () => ask()))
  expect(fetched()).toBe(1)
})

describe('a document is refused', () => {
  const base = (url: string) => ({ client_id: url, redirect_uris: [CALLBACK] })
  test.each<[string, Respond]>([
    ['of another client', (_, response) => json(response, base('https://other.example/client.json'))],
    ['without an identifier', (_, response) => json(response, { redirect_uris: [CALLBACK] })],
    ['with a secret', (_, response, url) => json(response, { ...base(url), client_secret: 'x' })],
    [
      'of a client with a shared secret',
      (_, response, url) =>
        json(response, { ...base(url), token_endpoint_auth_method: 'client_secret_post' }),
    ],
    ['without redirect URIs', (_, response, url) => json(response, { client_id: url })],
    [
      'with none that is allowed',
      (_, response, url) => json(response, { client_id: url, redirect_uris: ['javascript:x'] }),
    ],
    [
      'with a name that turns text around',
      (_, response, url) => json(response, { ...base(url), client_name: 'a\u202eb' }),
    ],
    ['that is a list', (_, response) => json(response, [])],
    [
      'that is not JSON',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    ],
    [
      'of another type',
      (_, response, url) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end(JSON.stringify(base(url))),
    ],
    ['of 11 KiB', (_, response, url) => json(response, { ...base(url), more: 'm'.repeat(11 * 1024) })],
    [
      'that is elsewhere',
      (_, response, url) => response.writeHead(302, { location: url.replace('client', 'other') }).end(),
    ],
    ['that is not there', (_, response) => response.writeHead(404).end()],
  ])('%s', async (_, respond) => {
    const { ask, stored } = await world(respond)
    const { response, url } = await ask()
    expect(response.status).toBe(400)
    expect(url).toContain('/oauth/authorize')
    expect(stored()).toEqual([])
  })
})

describe('no request goes to', () => {
  test.each([
    ['a private address', 'https://10.0.0.1/client.json'],
    ['the metadata of a cloud', 'https://169.254.169.254/latest/meta-data'],
    ['loopback over https', 'https://127.0.0.1/client.json'],
    ['loopback by name', 'https://localhost/client.json'],
    ['loopback in IPv6', 'https://[::1]/client.json'],
    ['loopback inside IPv6', 'https://[::ffff:127.0.0.1]/client.json'],
    ['http elsewhere', 'http://app.example/client.json'],
    ['a private address over http', 'http://10.0.0.1/client.json'],
    ['a URL without a path', 'https://app.example/'],
    ['a URL with dot segments', 'https://app.example/a/../client.json'],
    ['a URL with hidden dot segments', 'https://app.example/a/%2e%2e/client.json'],
    ['a URL with a user name', 'https://user@app.example/client.json'],
    ['a URL with a fragment', 'https://app.example/client.json#a'],
    ['a URL in capitals', 'https://APP.example/client.json'],
    ['a URL with the usual port', 'https://app.example:443/client.json'],
  ])('%s', async (_, id) => {
    const { ask, fetched, stored } = await world(good)
    expect((await ask(id)).response.status).toBe(400)
    expect(fetched()).toBe(0)
    expect(stored()).toEqual([])
  })

  test('loopback, unless development was asked for', async () => {
    const { ask, fetched } = await world(good, { cimd: { enabled: true }, insecure_allow_http: true })
    expect((await ask()).response.status).toBe(400)
    expect(fetched()).toBe(0)
  })

  test('more than ten places at once for one address, while others are served', async () => {
    const { ask, url, fetched, from } = await world(good)
    const statuses: number[] = []
    for (let n = 0; n < 15; n++) statuses.push((await ask(`${url}?${n}`)).response.status)
    expect(fetched()).toBe(10)
    expect(statuses.at(-1)).toBe(503)
    from('198.51.100.7')
    await ask(`${url}?other`)
    expect(fetched()).toBe(11)
  })

  test('more than fifty places at once for all', async () => {
    const { ask, url, fetched, from } = await world(good)
    for (let n = 0; n < 60; n++) {
      from(`198.51.100.${n}`)
      await ask(`${url}?${n}`)
    }
    expect(fetched()).toBe(50)
  })
})
