import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkloadStore } from '../../../../plugins/state/workload-store.ts'
import { createLog } from '../../../../src/log.ts'
import { findPaths } from '../../../../src/paths.ts'
import { startApi } from '../../../support/api-server.ts'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { everything } from '../../mcp/servers.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

test('an empty list says what to do', { timeout: 120_000 }, async context => {
  const api = await startUi()
  const { page, problems } = await openPage(context, api)

  await page.getByText('No workloads yet.').waitFor()
  await page.getByText('keelson run time').waitFor()
  expect(problems).toEqual([])
})

test('the page asks nobody but the server it came from', { timeout: 120_000 }, async context => {
  const api = await startUi()
  await makeRemote(api, 'all', await everything('streamableHttp'))
  const { page, problems, requests } = await openPage(context, api)

  await page.getByRole('link', { name: /^all/ }).click()
  await page.getByText('echo', { exact: true }).click()
  await page.getByText('Message to echo').waitFor()
  await page.getByRole('tab', { name: 'Proxy log' }).click()
  await page.getByText('Follows what is printed').waitFor()

  expect(problems).toEqual([])
  expect(requests.filter(request => !request.startsWith(`GET ${api.url}/`))).toEqual([])
})

test('what the command line does is seen at once, and nothing is asked for twice', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  const url = await startTinyMcp()
  const { page, problems, requests, networkChanges } = await openPage(context, api)
  const before = networkChanges()

  await api.user.run(['run', url, '--name', 'one'])
  const row = page.getByRole('link', { name: /^one/ })
  await row.getByText('Running').waitFor()
  await api.user.run(['stop', 'one'])
  await row.getByText('Stopped').waitFor()
  await api.user.run(['start', 'one'])
  await row.getByText('Running').waitFor()
  await api.user.run(['run', url, '--name', 'another'])
  await page
    .getByRole('link', { name: /^another/ })
    .getByText('Running')
    .waitFor()
  await api.user.run(['rm', 'one'])
  await row.waitFor({ state: 'detached' })
  expect(await page.locator('#announcer').textContent()).toBe('one is deleted')

  expect(problems).toEqual([])
  const counted = Map.groupBy(
    requests.filter(request => !request.includes('/ui/')),
    request => request,
  )
  expect(
    [...counted]
      .filter(([, times]) => times.length > 1 + networkChanges() - before)
      .map(([request]) => request),
  ).toEqual([])
  expect(requests).toContain(`GET ${api.url}/api/v1beta/events`)
  expect(requests.filter(request => /\/workloads(\?|$)/.test(request))).toEqual([])
})

test('the page says that the server has ended, and shows the present state when it is back', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  const url = await startTinyMcp()
  await makeRemote(api, 'gone', url)
  await makeRemote(api, 'stays', url)
  const { page } = await openPage(context, api, { at: '/#/stays' })
  await page.getByRole('tab', { name: 'Proxy log' }).click()
  await page.getByText('Follows what is printed').waitFor()

  await api.stop()
  await page.getByText(/Trying again|cannot be reached/).waitFor()
  await api.user.run(['rm', 'gone'])
  const { port } = new URL(api.url)
  await startApi({ user: api.user, args: ['--port', port, '--ui'] })

  await page.getByText('Live', { exact: true }).waitFor({ timeout: 30_000 })
  await page.getByRole('link', { name: /^gone/ }).waitFor({ state: 'detached' })
  await page.getByText('Follows what is printed').waitFor()
})

test('the page shows what a server is denied, and why one does not work', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'curious', await startTinyMcp())
  const { page } = await openPage(context, api, { at: '/#/curious' })
  await page.getByRole('heading', { name: 'curious' }).waitFor()
  const data = join(api.user.home, '.local/share/keelson')

  const denial = {
    level: 'WARN',
    msg: 'egress denied',
    host: 'evil.test',
    port: 443,
    rule: 'not_in_allow_host',
  }
  await appendFile(join(data, 'logs/curious.log'), `${JSON.stringify(denial)}\n`)
  await page.getByText('It tried to reach evil.test:443 and was denied.').waitFor()

  // The supervisor writes the status as well, and its copy may be the later one: each change is made until it is seen.
  const { statuses } = createWorkloadStore({
    paths: findPaths(api.user.env, process.platform),
    log: createLog({ write: () => {}, human: true, debug: false }),
    now: () => new Date(),
  })
  await expect
    .poll(async () => {
      const outcome = {
        from: 'a:1',
        to: 'a:2',
        outcome: 'rolled-back',
        reason: 'It is <i>mute</i>.',
      } as const
      await statuses.noteUpgrade('curious', outcome)
      const notice = page.getByText('It was not upgraded to a:2, and serves as before. It is <i>mute</i>.')
      return notice.isVisible()
    })
    .toBe(true)

  const start = page.getByRole('button', { name: 'Start', exact: true })
  const failed = page.getByRole('link', { name: /^curious/ }).getByText('Failed')
  await expect
    .poll(async () => {
      const fallen = { status: 'error', status_context: 'it <b>fell</b> over', process_id: 0 } as const
      await statuses.write('curious', fallen)
      const shown = [page.getByText('it <b>fell</b> over'), start, failed].map(part => part.isVisible())
      return Promise.all(shown)
    })
    .toEqual([true, true, true])
})
