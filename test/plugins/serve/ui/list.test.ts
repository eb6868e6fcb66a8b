import { expect, test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

test('workloads are counted, in the order of their numbers, and found by the filter', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  const url = await startTinyMcp()
  for (const name of ['a10', 'a9', 'b1']) await makeRemote(api, name, url)
  await api.ask('POST', '/api/v1beta/workloads/b1/stop')
  await api.untilStatus('b1', 'stopped')
  const { page, problems } = await openPage(context, api)
  const names = () => page.locator('#list .name').allTextContents()

  await page.getByText('2 running, 1 stopped').waitFor()
  expect(await names()).toEqual(['a9', 'a10', 'b1'])
  await page.keyboard.press('/')
  await page.keyboard.type('STOPPED b')
  await page.getByText('1 stopped', { exact: true }).waitFor()
  expect(await names()).toEqual(['b1'])
  await page.keyboard.type('/')
  await page.getByText('None of 3 workloads matches.').waitFor()
  await page.getByLabel('Filter the workloads').fill('')
  await page.getByText('2 running, 1 stopped').waitFor()
  expect(problems).toEqual([])
})
