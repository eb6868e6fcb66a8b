import { mkdir, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, startUi } from './open-page.ts'

const VERSION = '2026.8.31'
const path = '/api/v1beta/workloads'

/** Opens a tool of the workload that is shown; returns its form. */
async function openTool(page: Page, name: string) {
  await page.locator('summary').getByText(name, { exact: true }).click()
  const form = page.getByRole('form', { name: `Arguments of ${name}` })
  await form.waitFor()
  return form
}

test('tools of real packages are called: nested lists, booleans, whole numbers, files', {
  timeout: 600_000,
}, async context => {
  const api = await startUi()
  const folder = join(await realpath(api.user.home), 'files')
  await mkdir(folder)
  const make = async (name: string, more: object = {}) => {
    const image = `npx://@modelcontextprotocol/server-${name}@${VERSION}`
    const made = await api.ask('POST', path, { name, image, transport: 'stdio', ...more })
    expect(made.status, made.text).toBe(201)
    await expect
      .poll(async () => (await api.ask('GET', `${path}/${name}/status`)).text, { timeout: 180_000 })
      .toContain('"running"')
  }
  const volumes = [`${folder}:${folder}`]
  await make('memory', { volumes, env_vars: { MEMORY_FILE_PATH: join(folder, 'memory.json') } })
  await make('filesystem', { cmd_arguments: [folder], volumes })
  await make('everything')
  await make('sequential-thinking')
  const { page, problems } = await openPage(context, api, { at: '/#/memory' })
  const result = page.getByRole('region', { name: 'Result' })

  const create = await openTool(page, 'create_entities')
  await create.getByRole('button', { name: 'Add to entities' }).click()
  await create.getByLabel(/^name/).fill('Ada')
  await create.getByLabel(/^entityType/).fill('person')
  await create.getByRole('button', { name: 'Add to observations' }).click()
  await create.getByLabel(/^observations 1/).fill('writes programs')
  await create.getByRole('button', { name: 'Call', exact: true }).click()
  await result.getByText('writes programs').first().waitFor()
  await page.locator('summary').getByText('create_entities', { exact: true }).click()
  const graph = await openTool(page, 'read_graph') // it takes no parameters
  await graph.getByRole('button', { name: 'Call', exact: true }).click()
  await result.last().getByText('writes programs').first().waitFor()

  await page.goto(`${api.url}/#/filesystem`)
  const write = await openTool(page, 'write_file')
  await write.getByLabel(/^path/).fill(join(folder, 'note.txt'))
  await write.getByLabel(/^content/).fill('one\ntwo')
  await write.getByRole('button', { name: 'Call', exact: true }).click()
  await result
    .getByText(/Successfully wrote/)
    .first()
    .waitFor()
  expect(await readFile(join(folder, 'note.txt'), 'utf8')).toBe('one\ntwo')
  await page.locator('summary').getByText('write_file', { exact: true }).click()
  const edit = await openTool(page, 'edit_file')
  await edit.getByLabel(/^path/).fill(join(folder, 'note.txt'))
  await edit.getByRole('button', { name: 'Add to edits' }).click()
  await edit.getByLabel(/^oldText/).fill('two')
  await edit.getByLabel(/^newText/).fill('three')
  await edit.getByLabel(/^dryRun/).selectOption({ label: 'no' })
  await edit.getByRole('button', { name: 'Call', exact: true }).click()
  await expect.poll(() => readFile(join(folder, 'note.txt'), 'utf8'), { timeout: 30_000 }).toBe('one\nthree')

  await page.goto(`${api.url}/#/everything`)
  const sum = await openTool(page, 'get-sum')
  await sum.getByLabel(/^a /).fill('2')
  await sum.getByLabel(/^b /).fill('0.5')
  await sum.getByRole('button', { name: 'Call', exact: true }).click()
  await result.getByText('The sum of 2 and 0.5 is 2.5.').waitFor()

  await page.goto(`${api.url}/#/sequential-thinking`)
  const think = await openTool(page, 'sequentialthinking')
  await think.getByLabel(/^thought text/).fill('first')
  await think.getByLabel(/^nextThoughtNeeded/).fill('false') // its schema names no type: it takes JSON
  await think.getByLabel(/^thoughtNumber/).fill('0')
  await think.getByLabel(/^totalThoughts/).fill('1')
  await think.getByRole('button', { name: 'Call', exact: true }).click()
  await think.getByText(/less than/).waitFor()
  await think.getByLabel(/^thoughtNumber/).fill('1')
  await think.getByRole('button', { name: 'Call', exact: true }).click()
  await result
    .getByText(/"thoughtHistoryLength": 1/)
    .first()
    .waitFor()
  expect(problems).toEqual([])
})
