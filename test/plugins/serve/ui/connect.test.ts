import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

test('an installed application is connected and disconnected, and others get a text to paste', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  await mkdir(join(api.user.home, '.cursor'))
  await makeRemote(api, 'one', await startTinyMcp())
  const listed = (await api.ask('GET', '/api/v1beta/workloads')).json() as { workloads: { url: string }[] }
  const url = listed.workloads[0]?.url ?? ''
  const { page, problems } = await openPage(context, api, { at: '/#/one' })
  const written = () => readFile(join(api.user.home, '.cursor/mcp.json'), 'utf8').catch(() => '')
  await page.getByRole('tab', { name: 'Connect' }).click()

  await page.getByRole('button', { name: 'Connect cursor' }).click()
  await page.getByRole('button', { name: 'Disconnect cursor' }).waitFor()
  await expect.poll(written).toContain(url)
  await page.getByText(`claude mcp add --transport http one ${url}`).waitFor()
  await page.getByLabel('Application', { exact: true }).selectOption('VS Code (mcp.json)')
  const text = await page.getByRole('group', { name: 'What to paste' }).textContent()
  expect(JSON.parse(text ?? '')).toEqual({ servers: { one: { url, type: 'http' } } })

  await page.getByRole('button', { name: 'Disconnect cursor' }).click()
  await page.getByRole('button', { name: 'Connect cursor' }).waitFor()
  await expect.poll(written).not.toContain(url)
  expect(problems).toEqual([])
})
