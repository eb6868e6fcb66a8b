import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createEarlyServer } from '../../../plugins/serve/early-server.ts'
import { createSiteGuard } from '../../../src/http/guard-sites.ts'

async function arrange() {
  const early = createEarlyServer({ nonce: 'n1', guard: createSiteGuard({ host: '127.0.0.1' }) })
  early.server.listen(0, '127.0.0.1')
  await once(early.server, 'listening')
  onTestFinished(() => {
    early.server.closeAllConnections()
    early.server.close()
  })
  return { early, url: `http://127.0.0.1:${(early.server.address() as AddressInfo).port}` }
}

test('before the operations are loaded /health responds, and every other request waits', async () => {
  const { early, url } = await arrange()
  const order: string[] = []
  const version = fetch(`${url}/api/v1beta/version`).then(async response => {
    order.push('version')
    return response.text()
  })

  const health = await fetch(`${url}/health`)
  order.push('health')
  expect([health.status, health.headers.get('x-toolhive-nonce')]).toEqual([204, 'n1'])

  void early.open((request, response) => response.end(`answer to ${request.url}`))

  expect(await version).toBe('answer to /api/v1beta/version')
  expect(order).toEqual(['health', 'version'])
})

test('pages of other sites wait for who refuses them', async () => {
  const { early, url } = await arrange()
  const foreign = fetch(`${url}/health`, { headers: { origin: 'https://evil.test' } })
  await fetch(`${url}/health`)

  void early.open((_request, response) => response.writeHead(403).end())

  expect((await foreign).status).toBe(403)
})

test('when they are loaded health is theirs too', async () => {
  const { early, url } = await arrange()
  void early.open((_request, response) => response.writeHead(418).end())

  expect((await fetch(`${url}/health`)).status).toBe(418)
})

test('opening ends once the requests that waited have been answered', async () => {
  const { early, url } = await arrange()
  const arrived = once(early.server, 'request')
  const version = fetch(`${url}/api/v1beta/version`)
  await arrived
  const respond = Promise.withResolvers<void>()
  let isOver = false

  const opened = early
    .open(async (_request, response) => {
      await respond.promise
      response.end()
    })
    .then(() => {
      isOver = true
    })

  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  respond.resolve()
  expect((await version).status).toBe(200)
  await opened
})
