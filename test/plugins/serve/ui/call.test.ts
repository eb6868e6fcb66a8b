import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { everything, scripted } from '../../mcp/servers.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

/** Opens a tool of the workload that is shown; returns its form. */
async function openTool(page: Page, name: string) {
  await page.getByText(name, { exact: true }).click()
  const form = page.getByRole('form', { name: `Arguments of ${name}` })
  await form.waitFor()
  return form
}

const press = (page: Page, name: string) =>
  page
    .getByRole('form', { name: `Arguments of ${name}` })
    .getByRole('button', { name: 'Call', exact: true })
    .click()

const result = (page: Page) => page.getByRole('region', { name: 'Result' })

test('tools of a real server are called from forms made of their schemas', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'all', await everything('streamableHttp'))
  const { page, problems, requests } = await openPage(context, api, { at: '/#/all' })

  const sum = await openTool(page, 'get-sum')
  await sum.getByLabel(/^a /).fill('2')
  await press(page, 'get-sum')
  await sum.getByText('A value is needed.').waitFor()
  await page.keyboard.type('3') // the field with the problem has the focus
  await page.keyboard.press('Enter')
  await result(page).getByText('The sum of 2 and 3 is 5.').waitFor()
  await sum.getByLabel(/^a /).fill('two')
  await press(page, 'get-sum')
  await sum.getByText('This is not a number.').waitFor()
  await page.getByText('get-sum', { exact: true }).click()

  await openTool(page, 'get-tiny-image')
  await press(page, 'get-tiny-image')
  const image = result(page).getByRole('img')
  await image.waitFor()
  const width = "document.querySelector('.result img').naturalWidth"
  await expect.poll(() => page.evaluate<number>(width)).toBeGreaterThan(0)
  await page.getByText('get-tiny-image', { exact: true }).click()

  await openTool(page, 'get-resource-links')
  await press(page, 'get-resource-links')
  await result(page).locator('code').first().waitFor()
  expect(await result(page).locator('code').first().textContent()).toMatch(/^demo:\/\//)
  expect(await result(page).getByRole('link').count()).toBe(0)
  await page.getByText('get-resource-links', { exact: true }).click()

  const structured = await openTool(page, 'get-structured-content')
  await structured.getByLabel(/^location/).selectOption({ label: 'Chicago' })
  await press(page, 'get-structured-content')
  await result(page)
    .getByText(/"temperature":/)
    .waitFor()
  expect(await result(page).locator('pre').count()).toBe(1) // its text says the same once more

  expect(problems).toEqual([])
  const elsewhere = requests.filter(one => !one.includes(' blob:') && !one.includes(` ${api.url}/`))
  expect(elsewhere).toEqual([])
})

test('a long call shows its progress, and is cancelled by the button or by leaving the workload', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'all', await everything('streamableHttp'))
  const { page, problems } = await openPage(context, api, { at: '/#/all' })

  const form = await openTool(page, 'trigger-long-running-operation')
  await form.getByLabel(/^duration/).fill('300')
  await form.getByLabel(/^steps/).fill('600')
  await press(page, 'trigger-long-running-operation')
  await page.getByText(/\d of 600/).waitFor()
  await form.getByRole('button', { name: 'Cancel' }).click()

  await page.getByText('The call was cancelled.').waitFor()

  await press(page, 'trigger-long-running-operation')
  await page.getByText(/\d of 600/).waitFor()
  const ended = page.waitForEvent('requestfailed', request => request.url().endsWith('/tools/call'))
  await page.evaluate("location.hash = ''")
  await ended
  expect(problems).toEqual([])
})

const SCHEMA = {
  type: 'object',
  $defs: {
    place: { type: 'object', required: ['city'], properties: { city: { type: 'string', minLength: 2 } } },
  },
  required: ['code', 'count', 'where', 'either'],
  properties: {
    code: { type: 'string', minLength: 3, pattern: '^[A-Z]{3}$', description: 'Three letters' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    colour: { enum: ['red', 'green', 3] },
    loud: { type: 'boolean', default: true },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    where: { $ref: '#/$defs/place' },
    tags: { type: 'array', items: { type: 'string' } },
    either: { oneOf: [{ type: 'string' }, { type: 'object', required: ['id'] }] },
    'odd/na~me': { type: 'number' },
  },
}

/** A server with one tool, which returns what `answer` says; `calls` holds the arguments of each call. */
async function oneTool(inputSchema: object, answer: object | string = { content: [] }) {
  const calls: unknown[] = []
  const url = await scripted({
    'tools/list': () => ({ tools: [{ name: 'it', description: 'One tool', inputSchema }] }),
    'tools/call': params => {
      calls.push((params as { arguments?: unknown }).arguments)
      return answer
    },
  })
  return { url: `${url}/mcp`, calls }
}

test('each shape of a schema has a field, and what the schema refuses is not sent', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  const { url, calls } = await oneTool(SCHEMA)
  await makeRemote(api, 'one', url)
  const { page, problems } = await openPage(context, api, { at: '/#/one' })
  const form = await openTool(page, 'it')

  await press(page, 'it')
  expect(await form.getByText('A value is needed.').count()).toBe(2) // an empty text is a text
  expect(await page.evaluate('document.activeElement.labels[0].textContent')).toMatch(/^count/)
  await form.getByLabel(/^code/).fill('ab')
  await form.getByLabel(/^count/).fill('12.5')
  await form.getByLabel(/^colour/).selectOption({ label: '3' })
  await form.getByLabel(/^city/).fill('B')
  await form.getByRole('button', { name: 'Add to tags' }).click()
  await form.getByLabel(/^tags 1/).fill('new')
  await form.getByLabel(/^either/).fill('{"name": 1}')
  await form.getByLabel(/^odd/).fill('0.5')
  await press(page, 'it')
  expect(await form.getByText(/too short/).count()).toBe(2)
  await form.getByText(/exactly one subschema/).waitFor()
  expect(await form.getByLabel(/^count/).getAttribute('aria-invalid')).toBe('true')
  expect(calls).toEqual([])

  await form.getByLabel(/^code/).fill('ABC')
  await form.getByLabel(/^count/).fill('5')
  await form.getByLabel(/^city/).fill('Bern')
  await form.getByLabel(/^either/).fill('{"id": 1}')
  await press(page, 'it')
  await page.getByText('The result is empty.').waitFor()
  const first = {
    ...{ code: 'ABC', count: 5, colour: 3, loud: true, where: { city: 'Bern' } },
    ...{ tags: ['new'], either: { id: 1 }, 'odd/na~me': 0.5 },
  }
  expect(calls).toEqual([first])

  await form.getByRole('button', { name: 'Write as JSON' }).click()
  const json = form.getByLabel(/^arguments/)
  expect(JSON.parse(await json.inputValue())).toEqual(first)
  await json.fill('{"code": ')
  await press(page, 'it')
  await form.getByText(/This is not JSON/).waitFor()
  await json.fill(JSON.stringify({ ...first, note: null, loud: false }))
  await form.getByRole('button', { name: 'Use the fields' }).click()
  expect(await form.getByLabel(/^city/).inputValue()).toBe('Bern')
  await press(page, 'it')
  await expect.poll(() => calls[1]).toEqual({ ...first, loud: false })
  expect(problems).toEqual([])
})

test('a schema that cannot be read is asked for as JSON, and the server decides', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  const schema = { type: 'object', properties: { a: { $ref: '#' }, b: { type: 'string', pattern: '(' } } }
  const { url, calls } = await oneTool(schema, 'it is <b>wrong</b>')
  await makeRemote(api, 'one', url)
  const { page, problems } = await openPage(context, api, { at: '/#/one' })
  const form = await openTool(page, 'it')

  await form.getByLabel(/^b/).first().fill('x')
  await press(page, 'it')
  await page.getByRole('alert').getByText('it is <b>wrong</b>').waitFor()
  expect(calls).toEqual([{ b: 'x' }])
  expect(problems).toEqual([])
})

test('the command that is copied calls the tool with the same arguments', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  const { url } = await oneTool({ type: 'object', properties: { text: { type: 'string' } } })
  await makeRemote(api, 'one', url)
  const { page } = await openPage(context, api, {
    at: '/#/one',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const form = await openTool(page, 'it')
  await form.getByLabel(/^text/).fill("it's $HOME `id`")

  await form.getByRole('button', { name: 'Copy as command: it' }).click()

  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    `keelson mcp call --server one --args '{"text":"it'\\''s $HOME \`id\`"}' -- it`,
  )
})
