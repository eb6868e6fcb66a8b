import { expect, test } from 'vitest'
import { guardedServer } from '../../auth-out/guarded-server.ts'
import { post, rpc } from '../../proxy/test-proxy.ts'
import { openPage, startUi } from './open-page.ts'

test('the page asks for the headers that a remote server of the registry wants, and shows where to log in', {
  timeout: 120_000,
}, async context => {
  const server = await guardedServer()
  const far = {
    ...{ description: 'A server', url: server.url, transport: 'streamable-http' },
    headers: [
      { name: 'X-Api-Key', description: 'Your key', required: true, secret: true },
      { name: 'X-Tenant', description: 'Whose', required: true },
    ],
    oauth_config: { issuer: 'https://login.example', client_id: 'theirs' },
  }
  const api = await startUi({ remotes: { far } })
  await api.ask('POST', '/api/v1beta/secrets', { provider_type: 'encrypted' })
  const { page, problems } = await openPage(context, api)
  await page.getByRole('button', { name: 'Run a server' }).click()
  await page.getByRole('dialog').getByRole('searchbox').fill('far')
  await page.getByRole('dialog').getByText('1 server', { exact: true }).waitFor()
  await page.getByRole('dialog').locator('.results button').click()
  await page.getByText('https://login.example').waitFor()
  await page.getByText('theirs', { exact: true }).waitFor()

  await page.getByLabel(/X-Api-Key/).fill('the-key')
  await page.getByLabel(/X-Tenant/).fill('acme')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  const details = (await api.ask('GET', '/api/v1beta/workloads/far')).json() as {
    proxy_port: number
    header_forward: object
  }
  expect(details.header_forward).toEqual({
    add_plaintext_headers: { 'X-Tenant': 'acme' },
    add_headers_from_secret: { 'X-Api-Key': expect.stringContaining('X_Api_Key') },
  })
  expect(problems).toEqual([])
  await api.untilStatus('far', 'running')
  expect((await post(`http://127.0.0.1:${details.proxy_port}/mcp`, rpc('ping', 1))).status).toBe(200)
  expect(server.seen.at(-1)).toMatchObject({ 'x-api-key': 'the-key', 'x-tenant': 'acme' })
  const exported = await api.ask('GET', '/api/v1beta/workloads/far/export')
  expect(exported.text).not.toContain('the-key')
})
