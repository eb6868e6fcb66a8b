import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { source as axe } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { everything, serve } from '../../mcp/servers.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

/** Screenshots, for people to look at. */
const PICTURES = new URL('../../../../.keelson-test/page/', import.meta.url).pathname
/** What people reach with the keyboard, or jump to: it must say what it is. */
const NAMED = ['button', 'link', 'textbox', 'searchbox', 'combobox', 'tab', 'tabpanel', 'dialog', 'log']
const LANDMARKS = ['navigation', 'region']

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

/** Texts whose contrast with what is behind them is less than WCAG 2.2 asks for (1.4.3). */
const PALE = `(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number)
  const light = ([r, g, b]) => [r, g, b].map(part => part / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0)
  const behind = one => {
    for (let at = one; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if (color.startsWith('rgb(')) return parse(color)
    }
    return [255, 255, 255]
  }
  const texts = [...document.querySelectorAll('body *')].filter(one => one.checkVisibility() &&
    [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
  if (texts.length < 5) throw new Error('too little to look at')
  return texts.flatMap(one => {
    const style = getComputedStyle(one)
    const [a, b] = [light(parse(style.color)), light(behind(one))].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05)
    return ratio < 4.5 ? [one.textContent.trim().slice(0, 40) + ' ' + ratio.toFixed(2)] : []
  })
})()`

/** Rules of WCAG 2.2 and good practice that the page breaks, as axe-core finds them. */
async function findBroken(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate<string[]>(
    'axe.run().then(found => found.violations.flatMap(({ id, nodes }) => nodes.map(one => id + " " + one.html)))',
  )
}

async function assertNamed(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  const seen = nodes.filter(node => !node.ignored)
  const roleOf = (node: (typeof seen)[number]) => String(node.role?.value)
  const nameless = seen.filter(
    node => [...NAMED, ...LANDMARKS].includes(roleOf(node)) && !String(node.name?.value ?? '').trim(),
  )
  expect(nameless.map(roleOf)).toEqual([])
  expect(seen.filter(node => roleOf(node) === 'button').length).toBeGreaterThan(0)
  await session.detach()
}

test('it can be read in light and dark, on wide and narrow screens, and everything has a name', {
  timeout: 480_000,
}, async context => {
  await mkdir(PICTURES, { recursive: true })
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

  async function look(scene: string): Promise<void> {
    await page.mouse.move(0, 0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 860 })
        const where = `${scene}-${colorScheme}-${width}`
        await page.screenshot({ path: join(PICTURES, `${where}.png`) })
        expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(width)
        expect(await page.evaluate(PALE), where).toEqual([])
        await assertNamed(page)
        expect(await findBroken(page), where).toEqual([])
      }
    }
    await page.setViewportSize({ width: 360, height: 860 })
    expect(await page.evaluate('document.documentElement.scrollWidth'), scene).toBeLessThanOrEqual(360)
  }

  await page
    .getByRole('link', { name: /^asleep/ })
    .getByText('Stopped')
    .waitFor()
  await page.getByText('Choose a workload').waitFor()
  await look('list')
  await page.goto(`${api.url}/#/guarded`)
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  await look('login')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('WDJB-MJHT').waitFor()
  await look('login-waiting')
  await page.goto(`${api.url}/#/everything`)
  await page.getByText('get-sum', { exact: true }).click()
  await look('tools')
  const sum = page.getByRole('form', { name: 'Arguments of get-sum' })
  await sum.getByLabel(/^a /).fill('2')
  await sum.getByRole('button', { name: 'Call', exact: true }).click()
  await sum.getByText('A value is needed.').waitFor()
  await look('call-refused')
  await sum.getByLabel(/^b /).fill('3')
  await page.keyboard.press('Enter')
  await page.getByText('The sum of 2 and 3 is 5.').waitFor()
  await look('call')
  await page.getByText('get-sum', { exact: true }).click()
  await page.getByText('get-resource-links', { exact: true }).click()
  const links = page.getByRole('form', { name: 'Arguments of get-resource-links' })
  await links.getByRole('button', { name: 'Call', exact: true }).click()
  await page
    .getByText(/^Link to a resource/)
    .first()
    .waitFor()
  await look('call-links')
  await page.getByRole('tab', { name: 'Proxy log' }).click()
  await page.getByText('The server is up.').waitFor()
  await look('log')
  await page.getByRole('tab', { name: 'Connect' }).click()
  await page.getByRole('button', { name: 'Connect cursor' }).waitFor()
  await look('connect')
  await page.getByRole('button', { name: 'Delete' }).click()
  await look('confirm')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Run a server' }).click()
  await page.getByRole('dialog').getByText('1 server').waitFor()
  await look('search')
  await page.getByRole('button', { name: /Notes/ }).click()
  await page.getByLabel(/NOTES_FOLDER/).waitFor()
  await look('form')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await api.stop()
  await page.getByText(/Trying again|cannot be reached/).waitFor()
  await look('lost')
})
