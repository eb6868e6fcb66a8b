import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { deny, makeWalled } from '../../../support/walled-workload.ts'
import { everything, scripted, serve } from '../../mcp/servers.ts'
import { look } from './look.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

/** Responds to nothing but the first request of a client. */
const hung = () =>
  serve(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method } = JSON.parse(text || '{}')
    if (id === undefined) return response.writeHead(202).end()
    if (method !== 'initialize') return
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'h', version: '1' },
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })

test('each tab of a workload can be read, also when its server hangs, fails or cannot be read', {
  timeout: 480_000,
}, async context => {
  const api = await startUi()
  const outbound = { allow_host: ['b.example.com'], allow_port: [443] }
  const image_signer = { identity: 'maker@example.com', verified: true }
  const secrets = ['github_token,target=TOKEN']
  await makeWalled(api.user, {
    name: 'walled',
    outbound,
    secrets,
    image_signer,
    resources: { memory: '512m' },
  })
  await deny(api.user, 'walled', `a.rather.long.name.of.${'a.'.repeat(20)}host.example.com`)
  await deny(api.user, 'walled', '10.0.0.6')
  const folder = join(api.user.home, '.local/state/keelson/runconfigs')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'odd.json'), '{"name": ')
  await makeRemote(api, 'all', await everything('streamableHttp'))
  await api.ask('POST', '/api/v1beta/workloads', { name: 'hung', url: `${await hung()}/mcp` })
  const failing = await scripted({ 'tools/list': () => 'the tools are <b>gone</b>' })
  await makeRemote(api, 'failing', `${failing}/mcp`)
  const { page } = await openPage(context, api, { at: '/#/walled' })

  await page.getByRole('tab', { name: 'Permissions' }).click()
  await page.getByText('maker@example.com').waitFor()
  await look(page, 'permissions')
  await page.getByRole('button', { name: /^Allow this host… a.rather/ }).click()
  await page.getByRole('dialog').waitFor()
  await look(page, 'allow')
  await page.keyboard.press('Escape')

  await page.goto(`${api.url}/#/odd`)
  await page.getByRole('heading', { name: 'odd' }).waitFor()
  await page.getByRole('tab', { name: 'Permissions' }).click()
  await page.locator('#panel-4 .problem').waitFor()
  await look(page, 'unreadable')

  await page.goto(`${api.url}/#/hung`)
  await page.getByRole('heading', { name: 'hung' }).waitFor()
  await look(page, 'hung')
  await page.goto(`${api.url}/#/failing`)
  await page.getByText('the tools are <b>gone</b>').waitFor()
  await look(page, 'failing')

  await page.goto(`${api.url}/#/all`)
  await page.getByRole('tab', { name: 'Resources' }).click()
  await page.getByText('Dynamic Text Resource', { exact: true }).click()
  await page.getByLabel(/^resourceId/).fill('3')
  await page.getByRole('button', { name: 'Read', exact: true }).click()
  await page.getByText(/^Resource 3: This is/).waitFor()
  await look(page, 'resources')
  await page.getByRole('tab', { name: 'Prompts' }).click()
  await page.getByText('args-prompt', { exact: true }).click()
  await page.getByLabel(/^city/).fill('Bern')
  await page.getByRole('button', { name: 'Show messages' }).click()
  await page.getByText(/weather in Bern/).waitFor()
  await look(page, 'prompts')
})
