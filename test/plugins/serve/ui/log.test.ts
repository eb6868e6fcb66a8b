import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

test('a log is searched, paused and saved', { timeout: 120_000 }, async context => {
  const api = await startUi()
  await makeRemote(api, 'one', await startTinyMcp())
  const { page, problems } = await openPage(context, api, { at: '/#/one' })
  const file = join(api.user.home, '.local/share/keelson/logs/one.log')
  await page.getByRole('tab', { name: 'Proxy log' }).click()
  const log = page.getByRole('log')
  await page.getByText('Follows what is printed').waitFor()

  await page.waitForTimeout(1200) // what comes sooner was printed before, at an unknown time
  await appendFile(file, 'red apple\u001b[31m\ngreen pear\n')
  await log.getByText('green pear').waitFor()
  await page.getByLabel('Search the log').fill('APPLE')
  await page.getByText('1 line with “APPLE”').waitFor()
  expect(await log.textContent()).toMatch(/^\d\d:\d\d:\d\d {2}red apple\n$/)
  await page.getByRole('button', { name: 'Times' }).click()
  expect(await log.textContent()).toBe('red apple\n')
  await page.getByLabel('Search the log').fill('')

  await page.getByRole('button', { name: 'Pause' }).click()
  await appendFile(file, 'blue plum\n')
  await page.getByText('Paused, 1 new line').waitFor()
  expect(await log.getByText('blue plum').count()).toBe(0)
  await page.getByRole('button', { name: 'Pause' }).click()
  await log.getByText('blue plum').waitFor()

  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  const download = await saved
  expect(download.suggestedFilename()).toBe('one.proxy-logs.txt')
  const path = join(api.user.home, 'saved.txt')
  await download.saveAs(path)
  expect(await readFile(path, 'utf8')).toContain('red apple\ngreen pear\nblue plum\n')
  expect(problems).toEqual([])
})
