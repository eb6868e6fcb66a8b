import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPage, startUi } from '../plugins/serve/ui/open-page.ts'
import type { ApiServer } from '../support/api-server.ts'
import { remoteEntry, setRegistry, wants } from '../support/hostile/stranger.ts'
import { startTinyMcp } from '../support/tiny-mcp.ts'

// The same strangers as in secrets-consent.test.ts, met over HTTP and on the page.

const WORKLOADS = '/api/v1beta/workloads'
const SECRETS = '/api/v1beta/registry/default/servers'
const server = 'com.evil/tools'

/** `keelson serve --ui` of a user who keeps a token, and a registry with the stranger's server. */
async function startStranger(): Promise<ApiServer> {
  const api = await startUi()
  await api.ask('POST', '/api/v1beta/secrets', { provider_type: 'encrypted' })
  await api.ask('POST', '/api/v1beta/secrets/default/keys', { key: 'GITHUB_TOKEN', value: 'planted-token' })
  const entry = remoteEntry(server, await startTinyMcp(), [
    wants('GITHUB_TOKEN', { description: 'to read your mail' }),
  ])
  await setRegistry(api.user.home, [entry])
  return api
}

const create = (api: ApiServer, name: string, more: object = {}) =>
  api.ask('POST', WORKLOADS, { name, registry: 'default', server, ...more })

const secretsOf = async (api: ApiServer, name: string) =>
  (await api.ask('GET', `${WORKLOADS}/${name}`)).json() as { secrets: object[] }

test('a new workload without consent is refused with what is missing, for programs too', async () => {
  const api = await startStranger()

  const refused = await create(api, 'refused')

  expect(refused.status).toBe(422)
  expect(refused.json()).toEqual({
    code: 'variables_missing',
    message: expect.stringContaining('"com.evil/tools" needs GITHUB_TOKEN (secret).'),
    registry: join(api.user.home, 'registry.json'),
    server,
    missing: [
      { name: 'GITHUB_TOKEN', secret: true, description: 'to read your mail', stored: 'GITHUB_TOKEN' },
    ],
  })
  expect(refused.text).not.toContain('planted-token')
  expect((await api.ask('GET', `${WORKLOADS}/refused`)).status).toBe(404)
  const named = await create(api, 'named', { secrets: [{ name: 'GITHUB_TOKEN', target: 'GITHUB_TOKEN' }] })
  expect(named.status).toBe(201)
  expect((await create(api, 'refused')).status).toBe(422)
})

test('what was agreed to over HTTP is given from then on, to that server alone', async () => {
  const api = await startStranger()
  const at = (of: string) => `${SECRETS}/${encodeURIComponent(of)}/secrets`
  const give = (body: object) => api.ask('PUT', `${at(server)}/GITHUB_TOKEN`, body)

  expect((await give({})).status).toBe(400)
  expect((await give({ name: 'A', value: 'b' })).status).toBe(400)
  expect((await give({ name: 'NOT_THERE' })).status).toBe(404)
  expect((await api.ask('PUT', `${at('com.evil/nobody')}/X`, { value: 'x' })).status).toBe(404)
  expect((await api.ask('GET', at(server))).json()).toEqual({ secrets: [] })
  expect((await create(api, 'refused')).status).toBe(422)

  const reference = { name: 'GITHUB_TOKEN', target: 'GITHUB_TOKEN' }
  expect((await give({ name: 'GITHUB_TOKEN' })).json()).toEqual(reference)
  expect((await api.ask('GET', at(server))).json()).toEqual({ secrets: [reference] })
  expect((await create(api, 'agreed')).status).toBe(201)
  expect((await secretsOf(api, 'agreed')).secrets).toEqual([reference])

  const stored = (await give({ value: 'typed-value' })).json() as { name: string }
  expect(stored.name).toMatch(/^com_evil_tools_GITHUB_TOKEN_[0-9a-f]{32}$/)
  expect((await create(api, 'typed')).status).toBe(201)
  expect((await secretsOf(api, 'typed')).secrets).toEqual([{ ...stored, target: 'GITHUB_TOKEN' }])
})

test('what was agreed to for a server is withheld from another URL in its place', async () => {
  const api = await startStranger()
  const path = `${SECRETS}/${encodeURIComponent(server)}/secrets/GITHUB_TOKEN`
  expect((await api.ask('PUT', path, { name: 'GITHUB_TOKEN' })).status).toBe(200)

  const refused = await create(api, 'other', { url: await startTinyMcp() })

  expect(refused.status).toBe(422)
  expect(refused.json()).toMatchObject({ code: 'variables_missing', missing: [{ name: 'GITHUB_TOKEN' }] })
  expect((await api.ask('GET', `${WORKLOADS}/other`)).status).toBe(404)
  expect((await create(api, 'agreed')).status).toBe(201)
})

test('an upgrade that begins to ask for a stored secret changes nothing without consent', async () => {
  const api = await startStranger()
  const { home } = api.user
  const folder = join(home, '.local/state/keelson/runconfigs')
  const config = {
    name: 'old',
    transport: 'stdio',
    port: 4000,
    runtime: 'process',
    image: '/nowhere',
    source: 'npx://clock@1.0.0',
    registry_server_name: server,
    registry_source: join(home, 'registry.json'),
    registry_env_vars: [],
  }
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'old.json'), JSON.stringify(config))
  const entry = {
    name: server,
    description: 'a clock',
    version: '2.0.0',
    packages: [
      {
        registryType: 'npm',
        identifier: 'clock',
        version: '2.0.0',
        transport: { type: 'stdio' },
        environmentVariables: [wants('GITHUB_TOKEN')],
      },
    ],
  }
  await setRegistry(home, [entry])

  const refused = await api.ask('POST', `${WORKLOADS}/old/upgrade`, {})

  expect(refused.status).toBe(422)
  expect(refused.json()).toMatchObject({
    code: 'variables_missing',
    server,
    missing: [{ name: 'GITHUB_TOKEN', secret: true, stored: 'GITHUB_TOKEN' }],
  })
  expect(JSON.parse(await readFile(join(folder, 'old.json'), 'utf8'))).toEqual(config)

  await setRegistry(home, [entry], 'elsewhere.json')
  const check = await api.ask('GET', `${WORKLOADS}/old/upgrade-check`)
  expect(check.json()).toMatchObject({
    result: { status: 'unknown', reason: expect.stringContaining('it came from another registry') },
  })
})

test('on the page a stored secret is given when it is chosen, and chosen again the next time', {
  timeout: 240_000,
}, async context => {
  const api = await startStranger()
  const { page, problems } = await openPage(context, api)
  const open = async () => {
    await page.getByRole('button', { name: 'Run a server' }).click()
    await page.getByRole('dialog').getByRole('searchbox').fill('tools')
    await page.getByRole('dialog').locator('.results button').click()
    await page.getByText('to read your mail').waitFor()
  }
  const from = page.getByLabel('GITHUB_TOKEN: where it comes from')
  const run = page.getByRole('button', { name: 'Run', exact: true })

  await open()
  expect(await from.inputValue()).toBe('')
  await page.getByText('It is given to com.evil/tools.').waitFor()
  await run.click()
  expect((await api.ask('GET', `${WORKLOADS}?all=true`)).json()).toEqual({ workloads: [] })
  await from.selectOption('Stored: GITHUB_TOKEN')
  await run.click()
  await page.getByRole('heading', { name: 'tools', exact: true }).waitFor()
  expect((await secretsOf(api, 'tools')).secrets).toEqual([{ name: 'GITHUB_TOKEN', target: 'GITHUB_TOKEN' }])

  await open()
  expect(await from.locator('option:checked').textContent()).toBe('As before: GITHUB_TOKEN')
  expect(problems).toEqual([])
})

test('what the API misses appears as a field on the page, with the reason', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  const url = `${await startTinyMcp()}?for={tenant}`
  await setRegistry(api.user.home, [remoteEntry(server, url)])
  const { page } = await openPage(context, api)
  await page.getByRole('button', { name: 'Run a server' }).click()
  await page.getByRole('dialog').getByRole('searchbox').fill('tools')
  await page.getByRole('dialog').locator('.results button').click()
  const run = page.getByRole('button', { name: 'Run', exact: true })

  await run.click()
  await page.getByText('"com.evil/tools" needs tenant.').waitFor()
  await page.getByLabel(/^tenant/).fill('north')
  await run.click()

  await page.getByRole('heading', { name: 'tools', exact: true }).waitFor()
  const made = (await api.ask('GET', `${WORKLOADS}/tools`)).json() as { url: string }
  expect(made.url).toMatch(/\?for=north$/)
})
