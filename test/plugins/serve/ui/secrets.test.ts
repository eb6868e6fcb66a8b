import { expect, test } from 'vitest'
import { openPage, startUi } from './open-page.ts'

const KEYS = '/api/v1beta/secrets/default/keys'

test('secrets are set up, stored, replaced and deleted, and no value stays in the page', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  const { page, requests } = await openPage(context, api)
  const dialog = page.getByRole('dialog', { name: 'Secrets' })
  const keys = async () => ((await api.ask('GET', KEYS)).json() as { keys: { key: string }[] }).keys
  const kept = () =>
    page.evaluate<string>(
      "document.documentElement.outerHTML + [...document.querySelectorAll('input')].map(one => one.value)",
    )

  await page.getByRole('button', { name: 'Secrets' }).click()
  await dialog.getByRole('button', { name: 'Set up' }).click()
  await dialog.getByText('No secrets yet.').waitFor()
  await dialog.getByLabel('Value', { exact: true }).fill('first-value')
  await page.keyboard.press('Enter')
  await dialog.getByText('A name is needed.').waitFor()
  await dialog.getByLabel('Name', { exact: true }).fill('API_KEY')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Delete API_KEY' }).waitFor()
  expect(await keys()).toMatchObject([{ key: 'API_KEY' }])
  expect(await kept()).not.toContain('first-value')

  await dialog.getByRole('button', { name: 'New value for API_KEY' }).click()
  await dialog.getByLabel('New value', { exact: true }).fill('second-value')
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Name', { exact: true }).waitFor()
  expect(requests).toContain(`PUT ${api.url}${KEYS}/API_KEY`)
  expect(await kept()).not.toContain('second-value')

  await dialog.getByRole('button', { name: 'Delete API_KEY' }).click()
  await page.getByRole('dialog', { name: 'Delete API_KEY?' }).getByRole('button', { name: 'Delete' }).click()
  await dialog.getByText('No secrets yet.').waitFor()
  expect(await keys()).toEqual([])
})
