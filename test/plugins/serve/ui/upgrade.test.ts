import { expect, test } from 'vitest'
import { visit } from '../../../support/browser.ts'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { makeRemote, openPage, startUi, writeRegistry } from './open-page.ts'

const CHECK = '**/api/v1beta/workloads/**/upgrade-check'
const CHECK_ALL = '**/api/v1beta/workloads/upgrade-check?all=true'

const newer = {
  workload_name: 'old',
  status: 'upgrade-available',
  current_image: 'ghcr.io/me/server:1.0.0',
  candidate_image: 'ghcr.io/me/server:2.0.0',
  config_drift: { transport: { from: 'stdio', to: 'streamable-http' } },
  env_var_drift: { added: [{ name: 'REGION', description: 'Where', required: true }], removed: [] },
}

test('an upgrade says what it changes, asks for what is new, and is sent once', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'old', await startTinyMcp())
  const { page, problems, load } = await visit(context, 'about:blank')
  const sent: unknown[] = []
  let result: object = newer
  await page.route(CHECK_ALL, route => route.fulfill({ json: { results: [newer] } }))
  await page.route(CHECK, route => route.fulfill({ json: { result } }))
  await page.route('**/api/v1beta/workloads/old/upgrade', route => {
    sent.push(route.request().postDataJSON())
    result = { workload_name: 'old', status: 'up-to-date' }
    return route.fulfill({ json: { result: newer } })
  })
  await load(() => page.goto(`${api.url}/`))

  await page.getByRole('link', { name: /^old.*Upgrade/ }).click()
  await page.getByText('ghcr.io/me/server:2.0.0').waitFor()
  await page.getByRole('button', { name: 'Upgrade…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Upgrade old?' })
  await dialog.getByText('streamable-http').waitFor()
  await dialog.getByLabel(/REGION/).fill('north')
  await dialog.getByRole('button', { name: 'Upgrade', exact: true }).click()

  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Upgrade…' }).waitFor({ state: 'detached' })
  expect(sent).toEqual([{ env: { REGION: 'north' }, secrets: [] }])
  expect(problems).toEqual([])
})

test('the page shows the failure of an upgrade as the API returns it, and the upgrade can be tried again', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'old', await startTinyMcp())
  const { page, load } = await visit(context, 'about:blank')
  const plain = { ...newer, env_var_drift: { added: [], removed: [] } }
  await page.route(CHECK_ALL, route => route.fulfill({ json: { results: [plain] } }))
  await page.route(CHECK, route => route.fulfill({ json: { result: plain } }))
  await page.route('**/api/v1beta/workloads/old/upgrade', route =>
    route.fulfill({
      status: 422,
      contentType: 'text/plain',
      body: '"old" cannot be upgraded: no such image.\n',
    }),
  )
  await load(() => page.goto(`${api.url}/#/old`))

  await page.getByRole('button', { name: 'Upgrade…' }).click()
  const apply = page.getByRole('dialog').getByRole('button', { name: 'Upgrade', exact: true })
  await apply.click()

  await page.getByText('"old" cannot be upgraded: no such image.').waitFor()
  expect(await apply.isEnabled()).toBe(true)
})

for (const status of [404, 501, 503]) {
  test(`the page works with a server that responds ${status} for upgrades`, {
    timeout: 120_000,
  }, async context => {
    const api = await startUi()
    await makeRemote(api, 'old', await startTinyMcp())
    const { page, load } = await visit(context, 'about:blank')
    await page.route(/upgrade-check/, route => route.fulfill({ status, body: 'no\n' }))
    await load(() => page.goto(`${api.url}/#/old`))

    await page.getByRole('heading', { name: 'old' }).waitFor()
    await page.getByText('This server offers no tools.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
}

test('nothing newer shows nothing', { timeout: 120_000 }, async context => {
  const api = await startUi()
  await makeRemote(api, 'old', await startTinyMcp())
  const { page, problems } = await openPage(context, api, { at: '/#/old' })

  await page.getByRole('heading', { name: 'old' }).waitFor()
  await page.getByRole('tab', { name: 'Proxy log' }).waitFor()
  expect(await page.getByText('Upgrade').count()).toBe(0)
  expect(problems).toEqual([])
})

test('a real server is upgraded, and one that cannot be serves as before and says why', {
  timeout: 300_000,
}, async context => {
  const at = (version: string) => ({
    memory: {
      description: 'Remembers things',
      image: `npx://@modelcontextprotocol/server-memory@${version}`,
      transport: 'stdio',
    },
  })
  const api = await startUi({ servers: at('2026.7.4') })
  const offer = async (version: string) => {
    await writeRegistry(api.user.home, at(version))
    await api.ask('POST', '/api/v1beta/registry/default/refresh')
  }
  await api.ask('POST', '/api/v1beta/workloads', { name: 'mem', registry: 'default', server: 'memory' })
  await expect
    .poll(async () => (await api.ask('GET', '/api/v1beta/workloads/mem/status')).text, { timeout: 120_000 })
    .toContain('running')
  await offer('2026.8.31')
  const { page, load } = await openPage(context, api)

  await page.getByRole('link', { name: /^mem.*Upgrade/ }).click()
  await page.getByRole('button', { name: 'Upgrade…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Upgrade', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached', timeout: 120_000 })
  await page
    .getByRole('link', { name: /^mem.*2026\.8\.31/ })
    .getByText('Running')
    .waitFor()
  await page.getByRole('button', { name: 'Upgrade…' }).waitFor({ state: 'detached' })

  await offer('9999.1.1')
  await load(() => page.reload())
  await page.getByRole('button', { name: 'Upgrade…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Upgrade', exact: true }).click()
  await dialog.getByText(/"mem" (was not|cannot be) upgraded/).waitFor({ timeout: 120_000 })
  await page.keyboard.press('Escape')
  expect((await api.ask('GET', '/api/v1beta/workloads/mem/status')).text).toContain('running')
})
