import { expect, test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

test('groups are created and deleted, and several workloads are moved, stopped and deleted at once', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  const url = await startTinyMcp()
  for (const name of ['a', 'b', 'c']) await makeRemote(api, name, url)
  const { page, problems } = await openPage(context, api)
  const dialog = page.getByRole('dialog')
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const groupOf = async (name: string) =>
    ((await api.ask('GET', `/api/v1beta/workloads/${name}`)).json() as { group?: string }).group ?? 'default'

  await press('Groups…')
  await dialog.getByLabel('New group').fill('team')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Delete the group team' }).waitFor()
  await page.keyboard.press('Escape')

  await page.getByLabel('Select a', { exact: true }).focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByText('2 selected').waitFor()
  await press('Move the selected to a group')
  await dialog.getByLabel('Group').selectOption('team')
  await press('Move')
  await page.getByRole('region', { name: 'Group team' }).getByRole('link', { name: /^b/ }).waitFor()
  expect([await groupOf('a'), await groupOf('b'), await groupOf('c')]).toEqual(['team', 'team', 'default'])
  await dialog.waitFor({ state: 'detached' })

  await page.getByLabel('Filter the workloads').fill('team')
  await page.getByText('2 running', { exact: true }).waitFor()
  await page.getByLabel('Select all').check()
  await press('Stop the selected')
  await page.getByRole('dialog', { name: 'Stop 2 workloads?' }).waitFor()
  expect(await dialog.locator('.names li').allTextContents()).toEqual(['a', 'b'])
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('2 stopped', { exact: true }).waitFor()
  await page.getByLabel('Filter the workloads').fill('')
  await page.getByText('1 running, 2 stopped').or(page.getByText('2 stopped, 1 running')).waitFor()

  await press('Groups…')
  await press('Delete the group team')
  await page.getByText('Its 2 workloads move to the group “default”.').waitFor()
  await page
    .getByRole('dialog', { name: /^Delete the group/ })
    .getByRole('button', { name: 'Delete', exact: true })
    .click()
  await dialog.getByText('3 workloads').waitFor()
  await page.keyboard.press('Escape')

  await page.getByLabel('Select all').check()
  await press('Delete the selected')
  await page
    .getByRole('dialog', { name: 'Delete 3 workloads?' })
    .getByRole('button', { name: 'Delete' })
    .click()
  await page.getByText('No workloads yet.').waitFor()
  expect(problems).toEqual([])
})
