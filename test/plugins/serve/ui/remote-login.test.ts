import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { identityProvider } from '../../../support/identity-provider.ts'
import { sendJson } from '../../../support/registry-server.ts'
import { protectedServer } from '../../auth-out/oauth/protected-server.ts'
import { openPage, startUi } from './open-page.ts'

/** Responds as an MCP server without tools, for which the page asks as soon as it is up. */
async function offerNoTools(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const { id, method } = body ? JSON.parse(body) : { id: undefined, method: '' }
  if (id === undefined) return void response.writeHead(202).end()
  const serverInfo = { name: 'guarded', version: '1' }
  const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
  const result = { initialize: initialized, 'tools/list': { tools: [] } }[String(method)] ?? {}
  sendJson(response, { jsonrpc: '2.0', id, result })
}

/** A page that shows a workload whose remote server demands a login. */
async function guardedPage(context: Parameters<typeof openPage>[0]) {
  const provider = await identityProvider()
  const scopes = ['openid', 'offline_access']
  const server = await protectedServer({ issuer: provider.issuer, scopes, respond: offerNoTools })
  const api = await startUi()
  await api.ask('POST', '/api/v1beta/secrets', { provider_type: 'encrypted' })
  await api.ask('POST', '/api/v1beta/workloads', { name: 'far', url: server.mcp })
  await api.untilStatus('far', 'unauthenticated')
  const visited = await openPage(context, api, { at: '/#/far' })
  await visited.page.getByText('Nobody is logged in to the remote server.').waitFor()
  return { ...visited, provider }
}

test('pressed with the keyboard, the button opens the login in a tab of its own, and the workload runs', {
  timeout: 120_000,
}, async context => {
  const { page, problems, requests } = await guardedPage(context)
  const button = page.getByRole('button', { name: 'Log in' })
  await button.focus()
  const opened = page.context().waitForEvent('page')
  await page.keyboard.press('Enter')

  const tab = await opened
  await tab.getByText(/You can close this/i).waitFor()
  expect(await tab.evaluate('window.opener')).toBeNull()

  await page.locator('article .head .status').getByText('Running').waitFor()
  await button.waitFor({ state: 'hidden' })
  expect(await page.evaluate('document.activeElement.textContent')).toBe('far')
  expect(requests.filter(request => request.endsWith('/#/far') || request.endsWith('/')).length).toBe(1)
  expect(problems).toEqual([])
})

test('a login that is waited for can be cancelled, and one that was refused says so', {
  timeout: 120_000,
}, async context => {
  const { page, provider } = await guardedPage(context)
  await page.evaluate('window.open = () => null') // as a browser that blocks new tabs
  await page.getByRole('button', { name: 'Log in' }).click()
  const link = page.getByRole('link', { name: 'Open the login page' })
  await link.waitFor()
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
  expect(await link.getAttribute('target')).toBe('_blank')

  await page.getByRole('button', { name: 'Cancel' }).click()
  await link.waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Log in')

  provider.decide('deny')
  await page.getByRole('button', { name: 'Log in' }).click()
  await provider.visit((await link.getAttribute('href')) ?? '')
  await page.getByRole('status').getByText('was refused').waitFor()
  await page.getByRole('button', { name: 'Log in' }).waitFor()
})

test('an address that is no page is never opened', { timeout: 120_000 }, async context => {
  const { page } = await guardedPage(context)
  await page.route('**/workloads/far/login', route =>
    route.fulfill({ json: { state: 'waiting', url: 'javascript:window.hit=1' } }),
  )
  await page.getByRole('button', { name: 'Log in' }).click()

  await page.getByText('The server named no address that a browser may open.').waitFor()
  expect(page.context().pages()).toHaveLength(1)
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
  expect(await page.evaluate('window.hit')).toBeUndefined()
})
