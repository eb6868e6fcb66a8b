import { expect, test } from 'vitest'
import { testHome } from '../auth-out/guarded-server.ts'
import { answering } from './answering-server.ts'

test('list -q, ps, inspect, logs --tail and supervisor show a workload; rm -f removes it', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const url = await answering()
  await home.ok(['run', url, '--name', 'notes', '--transport', 'streamable-http'])

  expect(await home.ok(['list', '-q'])).toBe('notes')
  expect(await home.ok(['ps', '-aq'])).toBe('notes')
  expect(JSON.parse(await home.ok(['inspect', 'notes']))).toMatchObject({
    workload: { name: 'notes', status: 'running' },
    config: { name: 'notes', remote_url: url },
  })

  await home.ok(['restart', 'notes'])
  const log = (await home.ok(['logs', 'notes', '--proxy'])).split('\n')
  expect(log.length).toBeGreaterThan(1)
  expect(await home.ok(['logs', 'notes', '--proxy', '-n', '1'])).toBe(log.at(-1))
  expect(await home.ok(['logs', 'notes', '--proxy', '--tail', '1000'])).toBe(log.join('\n'))

  const shown = await home.ok(['supervisor', 'status'])
  const [, pid] = /^Process: +(\d+)$/m.exec(shown) ?? []
  expect(shown).toMatch(/^Workloads: +1$/m)
  expect(await home.ok(['supervisor', 'stop'])).toContain(`The supervisor (process ${pid}) has ended.`)
  expect(await home.keelson(['supervisor', 'status'])).toMatchObject({ code: 1 })
  expect(await home.ok(['list', '-q'])).toBe('notes')
  expect(await home.ok(['supervisor', 'status'])).not.toContain(pid)

  expect(await home.ok(['rm', '-f', 'notes', 'nope'])).toBe('notes: removed')
})

test.each([
  [['run', '-d', 'some/image'], '-d here.', 'run in the background unless --foreground'],
  [['run', '-it', 'some/image'], '-it (-i) here.', 'Nobody can type into a server'],
  [['run', '--rm', 'some/image'], '--rm here.', '`keelson rm NAME`'],
  [['list', '--no-trunc'], '--no-trunc here.', 'Use --wide.'],
  [['list', '-o', 'json'], '-o here.', '--format json'],
  [['logs', 'x', '--lines', '3'], '--lines here.', '--tail N'],
  [['exec', 'x', 'sh'], 'command "exec"', 'mcp call'],
  [['delete', 'x'], 'command "delete"', 'keelson rm'],
  [['get', 'pods'], 'command "get"', 'keelson list'],
])('%j of docker or kubectl gets a hint that fits', async (args, text, hint) => {
  const home = await testHome({ secrets: false })
  const { code, stderr } = await home.keelson(args)
  expect(code).toBe(2)
  expect(stderr).toContain(text)
  expect(stderr).toContain(hint)
})
