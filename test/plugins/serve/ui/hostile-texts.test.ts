import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { scripted, serve } from '../../mcp/servers.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

/** Texts that would run, load or hide something if anything made markup or style of them. */
const CORPUS = [
  '<script>window.hit=1</script>',
  '<img src=x onerror="window.hit=1">',
  '<img src="http://outside.example/pixel">',
  '"><svg onload=window.hit=1>',
  "javascript:window.hit=1//'",
  '<iframe srcdoc="<script>parent.hit=1</script>"></iframe>',
  '<a href="javascript:window.hit=1">click</a>',
  '<style>*{display:none}</style><link rel=stylesheet href=http://outside.example/x>',
  '<base href="http://outside.example/"><meta http-equiv=refresh content="0;url=http://outside.example/">',
  '{{constructor.constructor("window.hit=1")()}} #{window.hit=1}',
  '</p></div></body><form action=http://outside.example/><button>Delete</button></form>',
  '--><!-- ]]> &lt;script&gt;window.hit=1&lt;/script&gt;',
]
const ALL = CORPUS.join(' ')

const allows = new Set(['IMG /ui/icon.svg', 'SCRIPT /ui/main.js', 'LINK /ui/icon.svg'])

async function assertHarmless(page: Page, requests: readonly string[], origin: string): Promise<void> {
  expect(await page.evaluate('window.hit')).toBeUndefined()
  const loaded = await page.evaluate<string[]>(
    `[...document.querySelectorAll('img, script, iframe, object, embed, svg, form[action], base, meta[http-equiv], link:not([rel=stylesheet])')]
      .map(one => one.tagName + ' ' + (one.getAttribute('src') ?? one.getAttribute('href')))`,
  )
  expect(loaded.filter(one => !allows.has(one))).toEqual([])
  expect(requests.filter(request => !request.includes(` ${origin}/`))).toEqual([])
}

/** An MCP server whose tools are called and described in a hostile way. */
const hostileServer = () =>
  serve(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method } = JSON.parse(text || '{}')
    response.setHeader('content-type', 'application/json')
    if (id === undefined) return response.writeHead(202).end()
    const properties = Object.fromEntries(
      CORPUS.map(one => [one, { type: one, description: one, enum: [one] }]),
    )
    const tools = CORPUS.map(one => ({
      name: one,
      title: one,
      description: `${one}\u202e\u001b[2J`,
      inputSchema: { type: 'object', properties, required: CORPUS },
    }))
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: ALL, version: '1' },
          }
        : method === 'tools/list'
          ? { tools }
          : {}
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })

test('names and descriptions of tools are text', { timeout: 120_000 }, async context => {
  const api = await startUi()
  await makeRemote(api, 'bad', `${await hostileServer()}/mcp?${encodeURIComponent(ALL)}`)
  const { page, problems, requests } = await openPage(context, api, { at: '/#/bad' })

  for (const one of CORPUS) {
    await page.locator('summary code').getByText(one, { exact: true }).first().click()
    await page.locator('details[open] .parameters').last().getByText(one, { exact: true }).first().waitFor()
  }
  expect(await page.locator('.said').first().textContent()).toBe(`${CORPUS[0]}\\u202e`)
  await assertHarmless(page, requests, api.url)
  expect(problems).toEqual([])
})

test('what a tool returns is text, and an image only if it is one', { timeout: 120_000 }, async context => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>window.hit=1</script></svg>')
  const text = (one: string) => ({ type: 'text', text: `${one}\u202e\u001b[2J` })
  const link = (uri: string) => ({ type: 'resource_link', uri, name: ALL, title: ALL, description: ALL })
  const picture = (mimeType: string) => ({ type: 'image', mimeType, data: svg.toString('base64') })
  const embedded = { type: 'resource', resource: { uri: ALL, mimeType: 'text/html', text: ALL } }
  const content = [
    ...CORPUS.map(text),
    ...CORPUS.map(link),
    ...['image/svg+xml', 'text/html', ALL].map(picture),
    embedded,
  ]
  const url = await scripted({
    'tools/list': () => ({ tools: [{ name: 'it', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content, isError: true }),
  })
  const api = await startUi()
  await makeRemote(api, 'bad', `${url}/mcp`)
  const { page, problems, requests } = await openPage(context, api, { at: '/#/bad' })

  await page.getByText('it', { exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  const result = page.getByRole('region', { name: 'Result' })
  await result.getByText('The tool reports an error').waitFor()
  for (const one of CORPUS) await result.getByText(`${one}\\u202e`, { exact: true }).first().waitFor()
  expect(await result.locator('img, audio, a').count()).toBe(0)
  await assertHarmless(page, requests, api.url)
  expect(problems).toEqual([])
})

test('logs are text, without what would move the cursor or turn the line', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'bad', `${await hostileServer()}/mcp`)
  const { page, problems, requests } = await openPage(context, api, { at: '/#/bad' })
  await page.getByRole('tab', { name: 'Proxy log' }).click()
  await page.getByText('Follows what is printed').waitFor()

  const log = join(api.user.home, '.local/share/keelson/logs/bad.log')
  for (const one of CORPUS) await appendFile(log, `${one}\u001b]0;title\u0007\u001b[31m\u202e\u0000 end\n`)
  await appendFile(log, `${JSON.stringify({ level: ALL, msg: ALL, [ALL]: ALL })}\nlast\n`)

  const shown = page.getByRole('log')
  await shown.getByText(/last\n$/).waitFor()
  const lines = ((await shown.textContent()) ?? '').split('\n')
  for (const one of CORPUS) expect(lines.some(line => line.endsWith(`${one}\\u202e\\u0000 end`))).toBe(true)
  await assertHarmless(page, requests, api.url)
  expect(problems).toEqual([])
})

test('why a server needs a login is text, and so is why none could be begun', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  await api.ask('POST', '/api/v1beta/secrets', { provider_type: 'encrypted' })
  const server = await serve((request, response) => {
    if (!request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      return response
        .writeHead(401, { 'www-authenticate': `Bearer realm="${ALL.replaceAll('"', '')}"` })
        .end()
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ resource: `https://other.example/${ALL}`, authorization_servers: [] }))
  })
  await api.ask('POST', '/api/v1beta/workloads', { name: 'bad', url: `${server}/mcp` })
  await api.untilStatus('bad', 'unauthenticated')
  const { page, problems, requests } = await openPage(context, api, { at: '/#/bad' })

  const reason = page.locator('.context').getByText('<script>window.hit=1</script>')
  await reason.waitFor()
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('status').getByText('<script>window.hit=1</script>').waitFor()

  await assertHarmless(page, requests, api.url)
  expect(problems.filter(problem => !problem.includes('502'))).toEqual([])
})

test('entries of a registry are text, and so is what the API refuses', {
  timeout: 120_000,
}, async context => {
  const variables = CORPUS.map((one, index) => ({ name: `V${index}`, description: one, default: one }))
  const server = {
    title: ALL,
    description: ALL,
    image: 'npx://x@1.0.0',
    transport: 'stdio',
    env_vars: variables,
  }
  const api = await startUi({ servers: { bad: server } })
  const { page, problems, requests } = await openPage(context, api, { at: `/#/${encodeURIComponent(ALL)}` })
  await page.getByText(`There is no workload “${ALL}”.`).waitFor()

  await page.getByRole('button', { name: 'Run a server' }).click()
  await page.getByRole('dialog').getByRole('searchbox').fill('bad')
  await page.getByRole('dialog').getByText('1 server', { exact: true }).waitFor()
  await page.getByRole('dialog').locator('.results button').click()
  for (const [index, one] of CORPUS.entries()) {
    await page.getByText(one, { exact: true }).first().waitFor()
    expect(await page.getByLabel(`V${index}`).first().inputValue()).toBe(one)
  }
  await assertHarmless(page, requests, api.url)
  expect(problems).toEqual([])
})
