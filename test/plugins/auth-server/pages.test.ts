import { expect, test } from 'vitest'
import { visit } from '../../support/browser.ts'
import { testServer } from '../proxy/test-proxy.ts'
import { authWorld } from './auth-world.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

/** A client that runs here, and what it was told. */
async function localClient() {
  let told: URL | undefined
  const origin = await testServer((request, response) => {
    if (request.url?.startsWith('/callback')) told = new URL(request.url, 'http://127.0.0.1')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Done</title><p>Done.')
  })
  return { callback: `${origin}/callback`, told: () => told }
}

test.for(['light', 'dark'] as const)(
  'in %s a person agrees with the keyboard alone',
  async (colorScheme, context) => {
    const { registered, authorizeUrl, origin } = await authWorld()
    const { callback, told } = await localClient()
    const name = 'A client whose name is quite long and has no-place-to-break-because-it-is-one-word'
    const id = await registered({ client_name: name })
    const { page, problems, load } = await visit(context, 'about:blank', { ...PHONE, colorScheme })
    await load(() => page.goto(authorizeUrl(id, { redirect_uri: callback })))
    expect(await page.title()).toBe('Allow this program?')
    for (const shown of [
      name,
      new URL(callback).host,
      `${origin}/mcp`,
      'Ada (ada@example.com)',
      'see your e-mail address',
    ])
      expect(await page.getByText(shown).count(), shown).toBe(1)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Allow')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${callback}?*`)
    expect(told()?.searchParams.get('code')).toMatch(/^[\w-]{43}$/)
    expect(problems).toEqual([])
  },
)

test('a page that tells of a problem says what to do, and runs nothing', async context => {
  const { origin } = await authWorld()
  const { page, problems } = await visit(context, `${origin}/oauth/authorize?client_id=nobody`, PHONE)
  expect(await page.title()).toBe('The login did not work')
  expect(await page.textContent('main')).toContain('start the login again in the program')
  expect(problems.filter(problem => !problem.includes('400'))).toEqual([])
})

test('the page lets the browser open a program by its own scheme', async context => {
  const { registered, authorizeUrl } = await authWorld()
  const redirectUri = 'com.example.app:/callback'
  const id = await registered({ redirect_uris: [redirectUri] })
  const { page, problems, load } = await visit(context, 'about:blank', PHONE)
  await load(() => page.goto(authorizeUrl(id, { redirect_uri: redirectUri })))
  const opened: string[] = []
  const session = await page.context().newCDPSession(page)
  session.on('Network.responseReceivedExtraInfo', ({ headers }) => opened.push(headers.location ?? ''))
  await session.send('Network.enable')
  await page.getByText('Allow', { exact: true }).click()
  await expect.poll(() => opened.find(location => location.startsWith(`${redirectUri}?code=`))).toBeTruthy()
  expect(problems.filter(problem => /Content.Security.Policy|form-action/i.test(problem))).toEqual([])
})
