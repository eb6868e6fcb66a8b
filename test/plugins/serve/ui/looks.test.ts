import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { everything, serve } from '../../mcp/servers.ts'
import { look } from './look.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

const servers = {
  notes: {
    title: 'Notes',
    description: 'Keeps notes in a folder and finds them again',
    image: 'npx://notes@1.0.0',
    transport: 'stdio',
    tier: 'Community',
    permissions: { network: { outbound: { allow_host: ['api.example.com'], allow_port: [443] } } },
    env_vars: [
      { name: 'NOTES_FOLDER', description: 'Where they are', required: true, default: '/notes' },
      { name: 'NOTES_TOKEN', description: 'Token for the synchronisation', secret: true },
    ],
  },
}

test('it can be read in light and dark, on wide and narrow screens, and everything has a name', {
  timeout: 480_000,
}, async context => {
  const api = await startUi({ servers })
  await api.ask('POST', '/api/v1beta/secrets', { provider_type: 'encrypted' })
  await api.ask('POST', '/api/v1beta/secrets/default/keys', { key: 'notes', value: 'x' })
  await makeRemote(api, 'everything', await everything('streamableHttp'))
  await makeRemote(api, 'a-workload-with-a-name-that-is-rather-long', await startTinyMcp())
  await makeRemote(api, 'asleep', await startTinyMcp())
  await api.ask('POST', '/api/v1beta/workloads/asleep/stop')
  await api.ask('POST', '/api/v1beta/workloads', {
    name: 'broken',
    image: 'npx://no-such-thing-at-all@0.0.0',
  })
  const guarded = await serve((_, response) =>
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(),
  )
  await api.ask('POST', '/api/v1beta/workloads', { name: 'guarded', url: `${guarded}/mcp` })
  await api.untilStatus('guarded', 'unauthenticated')
  await mkdir(join(api.user.home, '.cursor'))
  const { page } = await openPage(context, api)
  await page.route('**/workloads/guarded/login', route =>
    route.fulfill({ json: { state: 'waiting', url: `${guarded}/login`, user_code: 'WDJB-MJHT' } }),
  )

  await page
    .getByRole('link', { name: /^asleep/ })
    .getByText('Stopped')
    .waitFor()
  await page.getByText('Choose a workload').waitFor()
  await look(page, 'list')
  await page.goto(`${api.url}/#/guarded`)
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  await look(page, 'login')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('WDJB-MJHT').waitFor()
  await look(page, 'login-waiting')
  await page.goto(`${api.url}/#/everything`)
  await page.getByText('get-sum', { exact: true }).click()
  await look(page, 'tools')
  const sum = page.getByRole('form', { name: 'Arguments of get-sum' })
  await sum.getByLabel(/^a /).fill('2')
  await sum.getByRole('button', { name: 'Call', exact: true }).click()
  await sum.getByText('A value is needed.').waitFor()
  await look(page, 'call-refused')
  await sum.getByLabel(/^b /).fill('3')
  await page.keyboard.press('Enter')
  await page.getByText('The sum of 2 and 3 is 5.').waitFor()
  await look(page, 'call')
  await page.getByText('get-sum', { exact: true }).click()
  await page.getByText('get-resource-links', { exact: true }).click()
  const links = page.getByRole('form', { name: 'Arguments of get-resource-links' })
  await links.getByRole('button', { name: 'Call', exact: true }).click()
  await page
    .getByText(/^Link to a resource/)
    .first()
    .waitFor()
  await look(page, 'call-links')
  await page.getByRole('tab', { name: 'Proxy log' }).click()
  await page.getByText('The server is up.').waitFor()
  await look(page, 'log')
  await page.getByRole('tab', { name: 'Connect' }).click()
  await page.getByRole('button', { name: 'Connect cursor' }).waitFor()
  await look(page, 'connect')
  await page.getByRole('button', { name: 'Delete' }).click()
  await look(page, 'confirm')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Run a server' }).click()
  await page.getByRole('dialog').getByText('1 server').waitFor()
  await look(page, 'search')
  await page.getByRole('button', { name: /Notes/ }).click()
  await page.getByLabel(/NOTES_FOLDER/).waitFor()
  await look(page, 'form')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await api.stop()
  await page.getByText(/Trying again|cannot be reached/).waitFor()
  await look(page, 'lost')
})
