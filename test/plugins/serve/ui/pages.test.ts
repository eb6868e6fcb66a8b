import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { look } from './look.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

const SKILL = new URL('../../../../fixtures/skills/csv-report', import.meta.url).pathname

const servers = {
  clock: { description: 'Tells the time', image: 'npx://clock@1.0.0', transport: 'stdio' },
}

test('clients are registered and removed, skills installed and removed, settings shown', {
  timeout: 480_000,
}, async context => {
  const api = await startUi({ servers })
  await mkdir(join(api.user.home, '.cursor'))
  await makeRemote(api, 'one', await startTinyMcp())
  await api.ask('POST', '/api/v1beta/skills/build', { path: SKILL })
  const { page, problems } = await openPage(context, api)
  const pages = page.getByRole('navigation', { name: 'Pages' })
  const written = () => readFile(join(api.user.home, '.cursor/mcp.json'), 'utf8').catch(() => '')

  await pages.getByRole('link', { name: 'Clients' }).click()
  await page.getByRole('heading', { name: 'Clients' }).waitFor()
  expect(await page.evaluate('document.activeElement.id')).toBe('place-title')
  expect(await page.locator('.rows').first().locator('.name').allTextContents()).toEqual(['Cursor'])
  await page.getByText(join(api.user.home, '.cursor/mcp.json')).waitFor()
  await page.getByRole('button', { name: 'Register Cursor' }).click()
  await page.getByRole('button', { name: 'Remove Cursor from default' }).waitFor()
  await expect.poll(written).toContain('"one"')
  await look(page, 'clients')
  await page.getByRole('button', { name: 'Remove Cursor from default' }).click()
  await page.getByRole('button', { name: 'Register Cursor' }).waitFor()
  await expect.poll(written).not.toContain('"one"')

  await pages.getByRole('link', { name: 'Skills' }).click()
  await page.getByText('No skill is installed.').waitFor()
  await page.getByLabel('Install a skill').fill('csv-report')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Install an unsigned skill?' })
  await dialog.getByRole('button', { name: 'Install' }).click()
  await page.locator('.rows summary').click()
  await page.getByText('Digest', { exact: true }).waitFor()
  await look(page, 'skills')
  await page.getByRole('button', { name: 'Remove csv-report' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No skill is installed.').waitFor()

  await pages.getByRole('link', { name: 'Settings' }).click()
  await page.getByText(join(api.user.home, 'registry.json')).waitFor()
  await page.getByText('Nothing is set up').waitFor()
  await look(page, 'settings')
  await page.getByRole('button', { name: 'Read the registry anew' }).click()

  await pages.getByRole('link', { name: 'Workloads' }).click()
  await page.getByRole('link', { name: /^one/ }).waitFor()
  expect(problems.filter(problem => !problem.includes('40'))).toEqual([])
})
