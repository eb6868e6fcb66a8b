import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, startUi } from './open-page.ts'

const servers = {
  memory: {
    title: 'Memory',
    description: 'Remembers things',
    image: 'npx://@modelcontextprotocol/server-memory@2026.8.31',
    transport: 'stdio',
    env_vars: [
      { name: 'GREETING', description: 'What it says first', required: true },
      { name: 'API_KEY', description: 'A key', required: true, secret: true },
    ],
  },
  clock: { description: 'Tells the time', image: 'npx://clock@1.0.0', transport: 'stdio' },
}

/** Goes on with Tab until the focus is on what is called so. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = []
  for (let presses = 0; presses < 40; presses++) {
    const [label, visible] = await page.evaluate<[string, boolean]>(`(() => {
      const at = document.activeElement
      const label = at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent
      return [label.trim(), at.matches(':focus-visible') && getComputedStyle(at).outlineStyle !== 'none']
    })()`)
    if (name.test(label)) return expect([label, visible]).toEqual([label, true])
    passed.push(label)
    await page.keyboard.press('Tab')
  }
  throw new Error(`${name} is not reached by Tab; passed: ${passed.join(' | ')}`)
}

const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent.trim()')

test('a server is found, run, looked at, stopped and deleted with the keyboard alone', {
  timeout: 240_000,
}, async context => {
  const api = await startUi({ servers })
  await api.user.run(['secret', 'setup', 'encrypted'])
  await api.ask('POST', '/api/v1beta/secrets', { provider_type: 'encrypted' })
  const { page, problems, requests } = await openPage(context, api)
  const { keyboard } = page

  await keyboard.press('Tab')
  expect(await focused(page)).toBe('Skip to the workloads')
  await tabTo(page, /^Run a server$/)
  await keyboard.press('Enter')
  await page.getByText('2 servers').waitFor()
  await keyboard.type('remember')
  await page.getByText('1 server', { exact: true }).waitFor()
  await tabTo(page, /Remembers things/)
  await keyboard.press('Enter')

  await page.getByRole('heading', { name: 'Run Memory' }).waitFor()
  await keyboard.press('ControlOrMeta+a')
  await keyboard.type('mem')
  await tabTo(page, /GREETING/)
  await keyboard.type('ahoy')
  await tabTo(page, /API_KEY/)
  await keyboard.type('s3cret-value')
  await keyboard.press('Enter')

  await page.getByRole('heading', { name: 'mem', exact: true }).waitFor({ timeout: 120_000 })
  await expect.poll(() => focused(page)).toBe('mem')
  const row = page.getByRole('link', { name: /^mem/ })
  await row.getByText('Running').waitFor({ timeout: 120_000 })
  const made = (await api.ask('GET', '/api/v1beta/workloads/mem')).json() as Record<string, unknown>
  expect(made).toMatchObject({
    env_vars: { GREETING: 'ahoy' },
    secrets: [
      { name: expect.stringMatching(/^io_github_stacklok_memory_API_KEY_[0-9a-f]{32}$/), target: 'API_KEY' },
    ],
  })
  expect(JSON.stringify(made)).not.toContain('s3cret-value')

  await page.getByText('create_entities', { exact: true }).waitFor()
  await tabTo(page, /^create_entities/)
  await keyboard.press('Enter')
  await page.locator('.parameters').getByText('entities', { exact: true }).waitFor()

  await tabTo(page, /^Copy/) // beyond the end, and round from the top
  await tabTo(page, /^Tools$/)
  await keyboard.press('ArrowRight')
  expect(await focused(page)).toBe('Resources')
  await keyboard.press('End')
  await keyboard.press('ArrowLeft')
  expect(await focused(page)).toBe('Log')
  await page.getByRole('log', { name: 'Log of the server' }).getByText('running on stdio').waitFor()

  await tabTo(page, /^Stop$/)
  await keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Stop mem?' }).waitFor()
  expect(await focused(page)).toBe('Cancel')
  await keyboard.press('Escape')
  expect(await focused(page)).toBe('Stop')
  await keyboard.press('Enter')
  await tabTo(page, /^Stop$/)
  await keyboard.press('Enter')
  await row.getByText('Stopped').waitFor()
  await page.getByText('The log ends here').waitFor()
  expect(await focused(page)).toBe('Start')

  await tabTo(page, /^Delete$/)
  await keyboard.press('Enter')
  await tabTo(page, /^Delete$/)
  await keyboard.press('Enter')
  await page.getByText('No workloads yet.').waitFor()
  expect(await page.locator('#announcer').textContent()).toBe('mem is deleted')
  expect(await page.evaluate('document.activeElement.id')).toBe('main')
  expect(problems).toEqual([])
  expect(requests.filter(request => !request.includes(` ${api.url}/`))).toEqual([])
})

test('a dialog keeps the focus until it is closed, and gives it back', {
  timeout: 120_000,
}, async context => {
  const api = await startUi({ servers })
  const { page } = await openPage(context, api)
  await page.getByRole('button', { name: 'Run a server' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('2 servers').waitFor()

  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press('Tab')
    const inside =
      "document.activeElement === document.body || document.activeElement.closest('dialog') !== null"
    expect(await page.evaluate(inside)).toBe(true)
  }
  await page.keyboard.press('Escape')
  expect(await focused(page)).toBe('Run a server')
})

test('the rows of the list are reached with the arrow keys, too', { timeout: 120_000 }, async context => {
  const api = await startUi()
  for (const name of ['a', 'b'])
    await api.ask('POST', '/api/v1beta/workloads', { name, url: 'http://127.0.0.1:9/mcp' })
  const { page } = await openPage(context, api)
  await page.getByRole('link', { name: /^b/ }).waitFor()

  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await focused(page)).toMatch(/^a/)
  await page.keyboard.press('ArrowDown')
  expect(await focused(page)).toMatch(/^b/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'b', exact: true }).waitFor()
  await page.goBack()
  expect(await focused(page)).toMatch(/^b/)
})
