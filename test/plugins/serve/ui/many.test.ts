import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, startUi } from './open-page.ts'

const MANY = 200

/** Replaces the events by those of many workloads; `tell` sends more. */
const EVENTS = `(() => {
  const real = fetch
  const workload = number => ({
    name: 'workload-' + number, package: 'ghcr.io/acme/server-' + number + ':1.0.0', port: 30000 + number,
    url: 'http://127.0.0.1:' + (30000 + number) + '/mcp', transport_type: 'stdio', proxy_mode: 'streamable-http',
    status: number % 7 ? 'running' : 'stopped', created_at: '2026-11-24T00:00:00Z', started_at: '2026-11-24T00:00:00Z',
  })
  window.fetch = (path, options) => {
    if (path !== '/api/v1beta/events') return real(path, options)
    const body = new ReadableStream({ start(to) {
      window.tell = (name, data) => to.enqueue(
        new TextEncoder().encode('event: ' + name + '\\ndata: ' + JSON.stringify(data) + '\\n\\n'))
      for (let number = 1; number <= ${MANY}; number++) window.tell('workload', workload(number))
      window.tell('listed', {})
    } })
    return Promise.resolve(new Response(body))
  }
  window.change = (number, status) => window.tell('workload', { ...workload(number), status })
})()`

const scrolled = (page: Page) =>
  page.evaluate<[number, number, number]>(
    "[scrollY, document.querySelector('#pane').scrollTop, document.querySelector('#list').scrollTop]",
  )

test('of 200 workloads the list scrolls by itself, and a change draws its own row alone', {
  timeout: 240_000,
}, async context => {
  const api = await startUi()
  const { page, load } = await openPage(context, api)
  await page.addInitScript(EVENTS)
  await page.setViewportSize({ width: 1280, height: 800 })
  await load(() => page.reload())
  await page.getByText('172 running, 28 stopped').waitFor()

  await page.locator('#list').hover()
  await page.mouse.wheel(0, 3000)
  await expect.poll(async () => (await scrolled(page))[2]).toBeGreaterThan(2000)
  expect((await scrolled(page)).slice(0, 2)).toEqual([0, 0])
  const last = page.locator('#list .name').last()
  await last.scrollIntoViewIfNeeded()
  expect(await last.textContent()).toBe('workload-200')

  await page.evaluate(`new MutationObserver(records => {
    window.touched = (window.touched ?? []).concat(
      records.map(({ target }) => (target.nodeType === 3 ? target.parentElement : target).closest('li')?.textContent))
  }).observe(document.querySelector('#list'), { subtree: true, childList: true, characterData: true, attributes: true })`)
  await page.evaluate("change(150, 'error')")
  await page.getByText('171 running, 28 stopped, 1 failed').waitFor()
  const touched = await page.evaluate<(string | null)[]>('window.touched')
  expect(new Set(touched.filter(Boolean))).toEqual(
    new Set(['workload-150Failedghcr.io/acme/server-150:1.0.0']),
  )

  await page.getByLabel('Sort by').selectOption('status')
  expect(await page.locator('#list .name').first().textContent()).toBe('workload-150')
  await page.getByLabel('Sort by').selectOption('port')
  expect(await page.locator('#list .name').nth(9).textContent()).toBe('workload-10')
})
