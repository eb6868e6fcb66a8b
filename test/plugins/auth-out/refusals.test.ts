import { expect, test } from 'vitest'
import { rpc } from '../proxy/test-proxy.ts'
import { guardedServer, testHome } from './guarded-server.ts'

test('a refusal whose body never ends keeps no client waiting', { timeout: 120_000 }, async () => {
  const home = await testHome()
  const server = await guardedServer(response =>
    response.writeHead(401, { 'www-authenticate': 'Bearer', 'content-length': 100 }).write('x'),
  )
  const url = (
    await home.ok(['run', server.url, '--name', 'far', '--remote-auth-bearer-token', 'of-the-user'])
  ).trim()
  server.accept(() => false)

  const refused = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: rpc('ping', 1),
    signal: AbortSignal.timeout(30_000),
  })

  expect(refused.status).toBe(503)
})
