import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

const FILES = 'npx://@modelcontextprotocol/server-filesystem@2026.8.31'

test('a package that does not run shows its last lines, and is edited until it does', {
  timeout: 480_000,
}, async context => {
  const api = await startUi()
  const notes = join(api.user.home, 'notes')
  await mkdir(notes)
  await writeFile(join(notes, 'one.txt'), 'one')
  const { page } = await openPage(context, api)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Run a server' }).click()
  await dialog.getByRole('searchbox').fill(FILES)
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Name', { exact: true }).fill('files')
  await dialog.getByLabel('Arguments').fill('/nowhere/at/all')
  await dialog.getByLabel('Name', { exact: true }).press('Enter')
  await dialog.getByRole('alert').getByText('files does not run.').waitFor({ timeout: 180_000 })
  await dialog.getByText('/nowhere/at/all').first().waitFor()

  await dialog.getByRole('button', { name: 'Edit it and try again' }).click()
  const form = page.getByRole('dialog', { name: 'Edit files' })
  expect(await form.getByLabel('Arguments').inputValue()).toBe('/nowhere/at/all')
  await form.getByLabel('Arguments').fill('/data')
  await form.getByRole('button', { name: 'Add a folder' }).click()
  await form.getByLabel('Path of folder 1 on this machine').fill('notes')
  await form.getByLabel('Path of folder 1 for the server').fill('/data')
  await form.getByRole('button', { name: 'Save and restart' }).click()
  await form.getByText('Write the whole path, for example /home/me/notes.').waitFor()
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Path of folder 1 on this machine')
  await form.getByLabel('Path of folder 1 on this machine').fill(notes)
  await page.keyboard.press('Enter')
  await page
    .getByRole('link', { name: /^files/ })
    .getByText('Running')
    .waitFor({ timeout: 180_000 })
  await dialog.waitFor({ state: 'detached' })

  const made = (await api.ask('GET', '/api/v1beta/workloads/files')).json()
  expect(made).toMatchObject({ cmd_arguments: ['/data'], volumes: [`${notes}:/data:ro`] })
})

test('a workload is cloned with what the form does not show, and edited', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'one', await startTinyMcp())
  const { page, problems } = await openPage(context, api, { at: '/#/one' })
  const dialog = page.getByRole('dialog')

  await page.getByRole('button', { name: 'Clone…' }).click()
  await dialog.getByLabel('Name', { exact: true }).fill('one')
  await dialog.getByRole('button', { name: 'Make the clone' }).click()
  await dialog.getByRole('alert').waitFor()
  expect(await dialog.getByLabel('Name', { exact: true }).getAttribute('aria-invalid')).toBe('true')
  await dialog.getByLabel('Name', { exact: true }).fill('other')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'other', exact: true }).waitFor()
  await dialog.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Edit…' }).click()
  await dialog.getByRole('button', { name: 'Add a header' }).click()
  await dialog.getByLabel('Name of the header').fill('X-Tenant')
  await dialog.getByLabel('Value of X-Tenant').fill('acme')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  const details = async (name: string) =>
    (await api.ask('GET', `/api/v1beta/workloads/${name}`)).json() as Record<string, unknown>
  const [one, other] = [await details('one'), await details('other')]
  expect(other.header_forward).toMatchObject({ add_plaintext_headers: { 'X-Tenant': 'acme' } })
  expect([other.url, other.transport]).toEqual([one.url, one.transport])
  expect(problems.filter(problem => !problem.includes('409'))).toEqual([])
})
