import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { everything, scripted } from '../../mcp/servers.ts'
import { makeRemote, openPage, startUi } from './open-page.ts'

test('resources are read, those of templates by a form, and bytes are saved', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'all', await everything('streamableHttp'))
  const { page, problems } = await openPage(context, api, { at: '/#/all' })
  await page.getByRole('tab', { name: 'Resources' }).click()

  await page.getByText('Dynamic Text Resource', { exact: true }).click()
  const text = page.getByRole('form', { name: 'Variables of Dynamic Text Resource' })
  await text.getByRole('button', { name: 'Read' }).click()
  await text.getByText('A value is needed.').waitFor()
  await page.keyboard.type('3')
  await page.keyboard.press('Control+Enter')
  const contents = page.getByRole('region', { name: 'Contents' })
  await contents.getByText(/Resource demo:\/\/resource\/dynamic\/text\/3/).waitFor()
  await contents.getByText(/^Resource 3: This is a plaintext/).waitFor()
  await page.getByText('Dynamic Text Resource', { exact: true }).click()

  const [first] = await page.locator('summary code').getByText('.md').all()
  await first?.click()
  await page.getByRole('button', { name: 'Read' }).last().click()
  await contents.last().locator('pre').waitFor()
  expect(problems).toEqual([])
})

test('a prompt asks for its arguments and shows its messages', { timeout: 240_000 }, async context => {
  const api = await startUi()
  await makeRemote(api, 'all', await everything('streamableHttp'))
  const { page, problems } = await openPage(context, api, { at: '/#/all' })
  await page.getByRole('tab', { name: 'Prompts' }).click()

  await page.getByText('args-prompt', { exact: true }).click()
  const form = page.getByRole('form', { name: 'Arguments of args-prompt' })
  await form.getByRole('button', { name: 'Show messages' }).click()
  await form.getByText('A value is needed.').waitFor()
  await form.getByLabel(/^city/).fill('Bern')
  await form.getByRole('button', { name: 'Show messages' }).click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await messages.getByText(/weather in Bern/).waitFor()
  await messages.getByRole('heading', { name: 'user' }).waitFor()
  expect(problems).toEqual([])
})

const PNG_OF = (width: number, height: number): string => {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes.toString('base64')
}

test('huge and hostile contents keep the page alive, and are text or files to save', {
  timeout: 240_000,
}, async context => {
  const long = 'x'.repeat(10_000_000)
  const uris = ['a:text', 'a:bomb', 'a:page', 'a:svg', 'a:../../evil name.exe']
  const contents: Record<string, object> = {
    'a:text': { text: long },
    'a:bomb': { mimeType: 'image/png', blob: PNG_OF(60_000, 60_000) },
    'a:page': { mimeType: 'text/html', text: '<script>window.hit=1</script>\u202eturned' },
    'a:svg': { mimeType: 'image/svg+xml', blob: Buffer.from('<svg/>').toString('base64') },
    'a:../../evil name.exe': { blob: Buffer.from('bytes').toString('base64') },
  }
  const url = await scripted({
    'tools/list': () => ({
      tools: Array.from({ length: 10_000 }, (_, at) => ({
        name: `tool-${at}`,
        inputSchema: { type: 'object' },
      })),
    }),
    'resources/list': () => ({ resources: uris.map(uri => ({ uri, name: uri })) }),
    'resources/read': params => {
      const { uri } = params as { uri: string }
      return { contents: [{ uri, ...contents[uri] }] }
    },
    'tools/call': () => ({ content: [{ type: 'text', text: long }] }),
  })
  const api = await startUi()
  await makeRemote(api, 'huge', `${url}/mcp`)
  const { page, problems } = await openPage(context, api, { at: '/#/huge' })

  await page.getByText('tool-99', { exact: true }).waitFor()
  expect(await page.locator('summary').count()).toBe(100)
  await page.getByText('9900 more tools are not shown.').waitFor()
  await page.getByLabel('Search the tools').fill('tool-9999')
  await page.getByText('tool-9999', { exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByText('The first 100,000 of 10,000,000 characters are shown.').waitFor()
  expect((await page.locator('pre.output').textContent())?.length).toBe(100_000)

  await page.getByRole('tab', { name: 'Resources' }).click()
  const read = async (uri: string) => {
    await page.locator('summary').getByText(uri, { exact: true }).first().click()
    await page
      .getByRole('form', { name: `Read ${uri}` })
      .getByRole('button', { name: 'Read' })
      .click()
  }
  await read('a:text')
  await page.getByText('The first 100,000 of 10,000,000 characters').last().waitFor()
  await read('a:bomb')
  await page.getByText('60000 × 60000 pixels are too many').waitFor()
  await read('a:page')
  await page.getByText('<script>window.hit=1</script>\\u202eturned').waitFor()
  await read('a:svg')
  await page.getByText('Resource a:svg (image/svg+xml)').waitFor()
  await read('a:../../evil name.exe')
  await page.getByText('5 bytes', { exact: true }).waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).last().click()
  const download = await saved
  expect(download.suggestedFilename()).toBe('evil_name.exe')
  const path = join(api.user.home, 'saved')
  await download.saveAs(path)
  expect(await readFile(path, 'utf8')).toBe('bytes')
  expect(await page.locator('img[src^="blob:"]').count()).toBe(0)
  expect(await page.evaluate('window.hit')).toBeUndefined()
  expect(problems).toEqual([])
})
