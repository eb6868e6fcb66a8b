import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startApi } from '../support/api-server.ts'
import { startTinyMcp } from '../support/tiny-mcp.ts'

const run = promisify(execFile)
const PAGE = new URL('../../docs/http-api.md', import.meta.url)

/** The lines of a page's shell examples, in order. */
const examplesIn = (page: string): string[] =>
  [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))

test('the examples of the page on the HTTP API do what they say', async () => {
  const lines = examplesIn(await readFile(PAGE, 'utf8'))
  const [start, ...calls] = lines
  expect(start).toBe('keelson serve --openapi')
  const api = await startApi()
  const mcp = await startTinyMcp()
  expect(calls.length).toBeGreaterThan(15)

  for (const line of calls) {
    expect(line).toMatch(/^curl /)
    const own = line.replaceAll('http://127.0.0.1:8080', api.url).replace('https://example.com/mcp', mcp)
    const isStream = line.includes(' -N ') // has no end: what came within the time is enough
    const script = own.replace('curl', `curl -sS --fail-with-body --max-time ${isStream ? 3 : 60}`)
    const { code = 0, stdout, stderr } = await run('bash', ['-c', script]).catch(error => error)

    expect([line, code, isStream ? '' : stderr]).toEqual([line, isStream ? 28 : 0, ''])
    if (isStream) expect(stdout).toContain('event: workload\ndata: {"name":"example"')
    if (line.includes('/export'))
      expect(JSON.parse(stdout)).toMatchObject({ name: 'example', remote_url: mcp })
  }

  await expect
    .poll(async () => (await api.ask('GET', '/api/v1beta/workloads?all=true')).text)
    .toBe('{"workloads":[]}\n')
}, 120_000)
