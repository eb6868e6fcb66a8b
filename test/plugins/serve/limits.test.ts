import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'

test('a caller beyond the rate limit gets Retry-After, and a response after that time', async () => {
  const api = await startApi({ args: ['--port', '0', '--rate-limit', '5'] })
  const ask = () => api.ask('GET', '/api/v1beta/version')

  const answers = await Promise.all(Array.from({ length: 100 }, ask))

  const refused = answers.filter(({ status }) => status === 429)
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(45)
  expect(refused.length).toBeGreaterThan(20)
  expect(refused.map(({ headers }) => headers.get('retry-after'))).toEqual(refused.map(() => '1'))
  expect(refused[0]?.text).toContain('More than 5 requests a second')
  await expect.poll(async () => (await ask()).status, { timeout: 5000 }).toBe(200)
})

test('the API is described for people, too, on a page that runs nothing', async () => {
  const api = await startApi()

  const page = await api.ask('GET', '/api/doc')

  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  for (const path of Object.keys(api.document.paths)) expect(page.text).toContain(`${path}<`)
  expect(page.text).not.toContain('<script')
  await api.stop()
  const plain = await startApi({ user: api.user, openapi: false })
  expect((await plain.ask('GET', '/api/doc')).status).toBe(404)
})
