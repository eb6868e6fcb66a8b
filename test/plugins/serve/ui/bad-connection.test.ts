import { expect, test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { openPage, startUi } from './open-page.ts'

test('over a slow connection that breaks, a form keeps what was typed, and sends it once it can', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  const url = await startTinyMcp()
  const { page } = await openPage(context, api)
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const slow = { latency: 300, downloadThroughput: 20_000, uploadThroughput: 20_000 }
  await session.send('Network.emulateNetworkConditions', { offline: false, ...slow })
  const dialog = page.getByRole('dialog')

  await page.getByRole('button', { name: 'Run a server' }).click()
  await dialog.getByRole('searchbox').fill(url)
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Add a header' }).click()
  await dialog.getByLabel('Name of the header').fill('X-Tenant')
  await dialog.getByLabel('Value of X-Tenant').fill('acme')
  await dialog.getByLabel('Name', { exact: true }).fill('far')
  await session.send('Network.emulateNetworkConditions', { offline: true, ...slow })
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').getByText('The server cannot be reached.').waitFor()
  expect((await api.ask('GET', '/api/v1beta/workloads?all=true')).json()).toEqual({ workloads: [] })

  await session.send('Network.emulateNetworkConditions', { offline: false, ...slow })
  await dialog.getByRole('button', { name: 'Run', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'far', exact: true }).waitFor()
  const made = (await api.ask('GET', '/api/v1beta/workloads/far')).json()
  expect(made).toMatchObject({ header_forward: { add_plaintext_headers: { 'X-Tenant': 'acme' } } })
})
