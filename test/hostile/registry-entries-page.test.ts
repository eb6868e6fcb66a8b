import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clientV1, textOf } from '../e2e/clients.ts'
import { openPage, startUi, writeRegistry } from '../plugins/serve/ui/open-page.ts'

// The page shows what an entry really wants of this machine, and gives it after a yes alone.

const VERSION = '2026.8.31'

test('the page lists the mounts of an entry and asks; no gives nothing, yes gives those', {
  timeout: 300_000,
}, async context => {
  const api = await startUi()
  const folder = join(api.user.home, 'notes')
  await mkdir(folder)
  await writeFile(join(folder, 'note.txt'), 'a note of the user')
  const path = await writeRegistry(api.user.home, {
    reader: {
      title: 'Reader',
      description: 'reads',
      image: `npx://@modelcontextprotocol/server-filesystem@${VERSION}`,
      transport: 'stdio',
      args: ['/data'],
      permissions: { network: { outbound: {} }, read: [`${folder}/../notes:/data`, '~:/mine'] },
    },
  })
  await api.user.run(['config', 'set-registry', path])
  const { page, problems, requests } = await openPage(context, api)

  await page.getByRole('button', { name: 'Run a server' }).click()
  await page.getByRole('dialog').locator('.results button').click()
  const form = page.getByRole('dialog', { name: 'Run Reader' })
  await form.getByText('~:/mine').waitFor()
  await form.getByRole('button', { name: 'Run', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Allow access to files of this machine?' })
  await question.getByText(folder, { exact: true }).waitFor()
  await question.getByText('your home folder, with keys and logins').waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await form.getByText('Nothing was changed.').waitFor()
  expect((await api.ask('GET', '/api/v1beta/workloads?all=true')).json()).toEqual({ workloads: [] })

  await form.getByRole('button', { name: 'Run', exact: true }).click()
  await question.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('heading', { name: 'reader', exact: true }).waitFor({ timeout: 180_000 })
  await page
    .getByRole('link', { name: /^reader/ })
    .getByText('Running')
    .waitFor({ timeout: 120_000 })

  const { workloads } = (await api.ask('GET', '/api/v1beta/workloads')).json() as {
    workloads: { url: string }[]
  }
  const client = await clientV1(workloads[0]?.url ?? '')
  const read = await client.callTool({ name: 'read_text_file', arguments: { path: '/data/note.txt' } })
  expect(textOf(read)).toContain('a note of the user')
  expect(requests.filter(one => one === `POST ${api.url}/api/v1beta/workloads`)).toHaveLength(3)
  expect(problems.filter(one => !one.includes('409'))).toEqual([])
})

test('the page asks when an upgrade starts to want a mount', { timeout: 300_000 }, async context => {
  const offer = (version: string, permissions: object = {}) => ({
    memory: {
      description: 'remembers',
      image: `npx://@modelcontextprotocol/server-memory@${version}`,
      transport: 'stdio',
      permissions: { network: { outbound: {} }, ...permissions },
    },
  })
  const api = await startUi({ servers: offer('2026.7.4') })
  await api.ask('POST', '/api/v1beta/workloads', { name: 'mem', registry: 'default', server: 'memory' })
  await expect
    .poll(async () => (await api.ask('GET', '/api/v1beta/workloads/mem/status')).text, { timeout: 120_000 })
    .toContain('running')
  await writeRegistry(api.user.home, offer(VERSION, { write: ['~'] }))
  await api.ask('POST', '/api/v1beta/registry/default/refresh')
  const { page } = await openPage(context, api, { at: '/#/mem' })
  const exported = async () => (await api.ask('GET', '/api/v1beta/workloads/mem/export')).json() as object
  const before = await exported()

  await page.getByRole('button', { name: 'Upgrade…' }).click()
  const form = page.getByRole('dialog', { name: 'Upgrade mem?' })
  await form.getByRole('button', { name: 'Upgrade', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Allow access to files of this machine?' })
  await question.getByText('to read and change').waitFor()
  await page.keyboard.press('Escape')
  await form.getByText('Nothing was changed.').waitFor()
  expect(await exported()).toEqual(before)

  await form.getByRole('button', { name: 'Upgrade', exact: true }).click()
  await question.getByRole('button', { name: 'Allow' }).click()
  await form.waitFor({ state: 'detached', timeout: 120_000 })
  const { home } = api.user
  expect(await exported()).toMatchObject({ permission_profile: { write: [`${home}:${home}`] } })
})
