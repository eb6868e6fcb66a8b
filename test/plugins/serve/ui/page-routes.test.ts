import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { startApi } from '../../../support/api-server.ts'
import { startUi } from './open-page.ts'

test('the page and all it is made of are sent with a policy that lets in nothing else', async () => {
  const { url } = await startUi()
  const page = await fetch(`${url}/`)
  const text = await page.text()

  const parts = [...text.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path ?? '')
  expect(parts).toContain('/ui/main.js')
  let compressed = 0
  for (const path of ['/', ...parts]) {
    const response = await fetch(`${url}${path}`)
    const { status, headers } = response
    compressed += gzipSync(await response.bytes()).length
    expect([path, status]).toEqual([path, 200])
    const policy = headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' blob:",
      'media-src blob:',
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split('; ')).toContain(rule)
    expect(policy).not.toMatch(/unsafe|\*|http/)
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-cache')
  }
  expect(compressed).toBeLessThan(120 * 1024)
  expect(text).not.toMatch(/<style|style="|<script(?![^>]*\bsrc=)|\son\w+=/)
})

test('what a browser has kept is not sent again', async () => {
  const { url } = await startUi()
  const first = await fetch(`${url}/ui/main.js`)
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]{43}"$/)
  expect(first.headers.get('content-type')).toBe('text/javascript; charset=utf-8')

  const ask = (tag: string) => fetch(`${url}/ui/main.js`, { headers: { 'if-none-match': tag } })
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await ask(tag)
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    expect(again.headers.get('content-security-policy')).toContain("default-src 'none'")
  }
  expect((await ask('"other"')).status).toBe(200)
})

test('nothing but the parts of the page is there, whatever the path says', async () => {
  const { url } = await startUi()
  const paths = [
    '/ui/',
    '/ui/main.ts',
    '/ui/api.js',
    '/ui/page-routes.ts',
    '/ui/..%2fpage-routes.ts',
    '/ui/%2e%2e%2f%2e%2e%2findex.ts',
  ]
  for (const path of [...paths, '/index.html', '/ui/index.html', '/ui/tsconfig.json']) {
    const status = await new Promise(resolve => {
      const { hostname, port } = new URL(url)
      request({ hostname, port, path }, response => resolve(response.resume().statusCode)).end()
    })
    expect([path, status]).toEqual([path, 404])
  }
})

test('without --ui there is no page', async () => {
  const { url } = await startApi()
  expect((await fetch(`${url}/`)).status).toBe(404)
  expect((await fetch(`${url}/ui/main.js`)).status).toBe(404)
})

test('a name of another site that leads here shows nothing', async () => {
  const { url } = await startUi()
  const { hostname, port } = new URL(url)
  const status = await new Promise(resolve => {
    const headers = { host: `attacker.example:${port}` }
    request({ hostname, port, path: '/', headers }, response => resolve(response.resume().statusCode)).end()
  })
  expect(status).toBe(403)
})
