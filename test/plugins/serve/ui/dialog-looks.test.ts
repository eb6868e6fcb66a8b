import { test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { look } from './look.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

const servers = {
  notes: {
    title: 'Notes',
    description: 'Keeps notes in a folder and finds them again',
    image: 'npx://notes@1.0.0',
    transport: 'stdio',
    env_vars: [
      { name: 'NOTES_MODE', description: 'How', required: true },
      { name: 'NOTES_TOKEN', description: 'Token for the synchronisation', required: true, secret: true },
    ],
  },
}

test('dialogs and groups can be read in light and dark, on wide and narrow screens', {
  timeout: 480_000,
}, async context => {
  const api = await startUi({ servers })
  const url = await startTinyMcp()
  await api.ask('POST', '/api/v1beta/groups', { name: 'team' })
  for (const name of ['one', 'two', 'three']) await makeRemote(api, name, url)
  await api.ask('POST', '/api/v1beta/workloads', { name: 'four', url, group: 'team' })
  await api.untilStatus('four', 'running')
  const { page } = await openPage(context, api)
  const dialog = page.getByRole('dialog')
  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()

  await page.getByLabel('Select one').check()
  await page.getByLabel('Select four').check()
  await page.getByText('2 selected').waitFor()
  await look(page, 'bulk')
  await press('Delete the selected')
  await dialog.getByText('Delete 2 workloads?').waitFor()
  await look(page, 'bulk-confirm')
  await page.keyboard.press('Escape')
  await press('Move the selected to a group')
  await dialog.getByLabel('Group').selectOption('team')
  await look(page, 'move')
  await page.keyboard.press('Escape')
  await press('Groups…')
  await dialog.getByText('team').waitFor()
  await look(page, 'groups')
  await page.keyboard.press('Escape')

  await press('Run a server')
  await page.getByRole('button', { name: /Notes/ }).click()
  await dialog.getByText('there is no place for secrets yet').waitFor()
  await press('Add a variable')
  await press('Add a folder')
  await dialog.getByText('More options').click()
  await dialog.getByLabel('Network').selectOption('hosts')
  await press('Run')
  await dialog.getByText('A value is needed.').first().waitFor()
  await look(page, 'run-refused')
  await press('Set up secrets')
  await look(page, 'secrets-setup')
  await press('Set up')
  await page.getByText('No secrets yet.').waitFor()
  await page.getByLabel('Name', { exact: true }).last().fill('NOTES')
  await page.getByLabel('Value', { exact: true }).fill('s3cret')
  await press('Store')
  await page.getByRole('button', { name: 'Delete NOTES' }).waitFor()
  await look(page, 'secrets')
  await page.keyboard.press('Escape')
  await dialog.getByLabel('NOTES_TOKEN: where it comes from').selectOption('NOTES')
  await dialog.getByLabel(/^NOTES_MODE/).fill('fast')
  await press(/^Remove folder 1$/)
  await press('Run')
  await dialog.getByRole('alert').waitFor({ timeout: 120_000 })
  await look(page, 'run-failed')
  await page.keyboard.press('Escape')

  await page.goto(`${api.url}/#/one`)
  await press('Edit…')
  await dialog.getByRole('button', { name: 'Save and restart' }).waitFor()
  await look(page, 'edit')
})
