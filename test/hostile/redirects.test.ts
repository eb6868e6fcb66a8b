import { expect, test } from 'vitest'
import { testHome } from '../plugins/auth-out/guarded-server.ts'
import { testServer } from '../plugins/proxy/test-proxy.ts'

const TOKEN = 'the-token-of-the-user'

test.each<[string, (other: string) => string]>([
  ['a path that reads like a URL of that host', other => `//${other}/x`],
  ['such a path in the redirect', () => '/elsewhere'],
])('the credentials of the user reach no other host by %s', { timeout: 60_000 }, async (_, pathFor) => {
  const leaked: string[] = []
  const other = new URL(
    await testServer((request, response) => {
      leaked.push(request.headers.authorization ?? 'nothing')
      response.end('{}')
    }),
  ).host
  const seen: [string | undefined, string | undefined][] = []
  const server = await testServer((request, response) => {
    request.resume()
    seen.push([request.url, request.headers.authorization])
    if (request.url === '/tidy') return response.end('arrived')
    const location = request.url === '/elsewhere' && request.method === 'GET' ? `//${other}/x` : '/tidy'
    response.writeHead(307, { location }).end()
  })
  const path = pathFor(other)
  const home = await testHome()
  // The server does not speak MCP, so the workload is unhealthy.
  const run = await home.keelson(['run', `${server}${path}`, '--remote-auth-bearer-token', TOKEN])
  const url = run.stdout.trim()
  seen.length = 0

  const response = await fetch(url, { redirect: 'manual' })
  expect(await response.text()).toBe(path === '/elsewhere' ? '' : 'arrived')
  expect(leaked).toEqual([])
  expect(seen[0]?.[0]).toBe(path)
  expect(seen.every(([, authorization]) => authorization === `Bearer ${TOKEN}`)).toBe(true)
})
