import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Home, openHome } from '../../e2e/home.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { needs } from '../../support/left-out.ts'
import { testHome } from '../auth-out/guarded-server.ts'
import { testServer } from '../proxy/test-proxy.ts'
import { answering } from './answering-server.ts'

const SLOW = { timeout: 180_000 }
const IMAGE = 'keelson-test/node:24'

/** A stdio server that ends at once where FAIL is set. */
const SERVER = `
if (process.env.FAIL) { console.error('FAIL is set'); process.exit(3) }
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = method === 'initialize'
    ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'n', version: '1' } } : {}
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})`

const configOf = async (home: Home, name: string) => JSON.parse(await home.ok(['export', name]))
const rows = async (home: Home) => JSON.parse(await home.ok(['list', '--all', '--format', 'json']))

/** A home with a remote workload `notes`. */
async function withNotes({ secrets = false } = {}, ...flags: string[]): Promise<Home> {
  const home = await testHome({ secrets })
  const url = await answering()
  await home.ok(['run', url, '--name', 'notes', '--transport', 'streamable-http', ...flags])
  return home
}

test('edit changes what its flags name, and keeps everything else', SLOW, async () => {
  const home = await withNotes({}, '--label', 'a=1')
  const before = await configOf(home, 'notes')
  expect(await home.ok(['edit', 'notes', '--label', 'b=2', '--stateless'])).toBe('notes: changed')
  const after = { ...before, container_labels: { a: '1', b: '2' }, stateless: true }
  expect(await configOf(home, 'notes')).toEqual(after)
  expect(await home.ok(['edit', 'notes', '--no-stateless'])).toBe('notes: changed')
  const { stateless: _, ...rest } = after
  expect(await configOf(home, 'notes')).toEqual(rest)
  expect(await home.ok(['edit', 'notes', '--label', 'b=2'])).toBe('notes: unchanged')
})

test('edit refuses what is wrong before anything stops, and what only run can do', SLOW, async () => {
  const home = await withNotes()
  const [{ started_at: at }] = await rows(home)
  const before = await configOf(home, 'notes')
  expect(await home.keelson(['edit', 'notes', '--group', 'nope'])).toMatchObject({ code: 1 })
  expect(await home.keelson(['edit', 'notes', '--target-port', '80'])).toMatchObject({ code: 2 })
  const busy = await holdPort()
  expect(await home.keelson(['edit', 'notes', '--proxy-port', String(busy)])).toMatchObject({ code: 1 })
  const { code, stderr } = await home.keelson(['edit', 'notes', '--name', 'other'])
  expect(code).toBe(2)
  expect(stderr).toContain('keelson rename notes NEW')
  expect(await configOf(home, 'notes')).toEqual(before)
  expect(await rows(home)).toMatchObject([{ started_at: at, status: 'running' }])
})

test('edit without flags opens the run config in EDITOR', SLOW, async () => {
  const home = await withNotes()
  const editor = join(home.path, 'editor.sh')
  const edit = async (script: string) => {
    await writeFile(editor, `#!/bin/sh\n${script}\n`)
    await chmod(editor, 0o755)
    return home.keelson(['edit', 'notes'], { env: { EDITOR: editor } })
  }
  expect(
    await edit(`sed -i 's/"group": "default"/"group": "default", "stateless": true/' "$1"`),
  ).toMatchObject({
    code: 0,
    stdout: 'notes: changed',
  })
  expect(await configOf(home, 'notes')).toMatchObject({ stateless: true })
  expect(await edit('true')).toMatchObject({ code: 0, stdout: 'notes: unchanged' })
  expect(await edit('echo "{" > "$1"')).toMatchObject({ code: 1 })
  expect((await edit('exit 7')).stderr).toContain('failed: it ended with 7')
  expect((await edit(`sed -i 's/"notes"/"other"/' "$1"`)).stderr).toContain('keelson rename notes NEW')
  expect(await configOf(home, 'notes')).toMatchObject({ stateless: true, name: 'notes' })
})

test('a server that does not start with an edit runs as before', SLOW, async context => {
  needs(context, engineProblem('docker', IMAGE))
  const home = await openHome()
  onTestFinished(() => home.close())
  await writeFile(join(home.path, 'server.cjs'), SERVER)
  const name = `edited-${process.pid}`
  const mounts = ['-v', `${home.path}/server.cjs:/srv/server.cjs:ro`]
  const flags = ['--runtime', 'docker', '--transport', 'stdio', '--no-isolate-network', '-e', 'OTHER=1']
  await home.ok(['run', IMAGE, '--name', name, ...flags, ...mounts, '--', 'node', '/srv/server.cjs'])

  expect(JSON.parse(await home.ok(['stats', '--format', 'json']))).toEqual([
    {
      ...{ name, runtime: 'docker', instances: 1 },
      ...{ cpu_percent: expect.any(Number), memory_bytes: expect.any(Number) },
    },
  ])
  expect(await home.ok(['stats', name])).toMatch(/^NAME +CPU +MEMORY .*\nedited-\d+ +[\d.]+% +[\d.]+ MiB /)
  const failed = await home.keelson(['edit', name, '-e', 'FAIL=1'])
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain(`"${name}" did not start with the change and runs as before`)
  expect(failed.stderr).toContain('FAIL is set')
  expect(await configOf(home, name)).toMatchObject({ env_vars: { OTHER: '1' } })
  expect((await configOf(home, name)).env_vars).not.toHaveProperty('FAIL')
  expect(await rows(home)).toMatchObject([{ name, status: 'running' }])

  expect(await home.ok(['edit', name, '-e', 'OTHER=2'])).toBe(`${name}: changed`)
  expect(await configOf(home, name)).toMatchObject({ env_vars: { OTHER: '2' } })

  await home.ok(['stop', name])
  await home.ok(['edit', name, '-e', 'FAIL=1'])
  expect(await rows(home)).toMatchObject([{ name, status: 'stopped' }])
  await home.ok(['edit', name, '-e', 'FAIL='])
  await home.ok(['clone', name, `${name}-b`])
  await home.ok(['rename', `${name}-b`, `${name}-c`])
  expect(await rows(home)).toMatchObject([{ status: 'stopped' }, { name: `${name}-c`, status: 'running' }])
})

test('an edit that is killed while the server stops goes on without its command', SLOW, async context => {
  needs(context, engineProblem('docker', IMAGE))
  const home = await openHome()
  onTestFinished(() => home.close())
  const slow =
    "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 3000)); setInterval(() => {}, 1000)"
  await writeFile(join(home.path, 'server.cjs'), `${SERVER}\n${slow}`)
  const name = `killed-${process.pid}`
  const mounts = ['-v', `${home.path}/server.cjs:/srv/server.cjs:ro`]
  const flags = ['--runtime', 'docker', '--transport', 'stdio', '--no-isolate-network']
  await home.ok(['run', IMAGE, '--name', name, ...flags, ...mounts, '--', 'node', '/srv/server.cjs'])
  const [{ started_at: before }] = await rows(home)

  const edit = home.start(['edit', name, '-e', 'OTHER=2'])
  await expect.poll(async () => (await rows(home))[0].status, { timeout: 60_000 }).toBe('starting')
  edit.kill('SIGKILL')
  await expect.poll(async () => (await rows(home))[0].status, { timeout: 60_000 }).toBe('running')
  expect((await rows(home))[0].started_at).not.toBe(before)
  expect(await configOf(home, name)).toMatchObject({ env_vars: { OTHER: '2' } })
})

test(
  'a server that does not start with an edit keeps the secret that the edit replaced',
  SLOW,
  async context => {
    needs(context, engineProblem('docker', IMAGE))
    const home = await testHome()
    const name = `secretive-${process.pid}`
    onTestFinished(async () => void (await home.keelson(['rm', name])))
    await writeFile(join(home.path, 'server.cjs'), SERVER)
    const seen: (string | undefined)[] = []
    const collector = await testServer((request, response) => {
      seen.push(request.headers.authorization)
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    const authorized = (token: string) => ['--otel-headers', `authorization=${token}`]
    const exported = ['--otel-endpoint', collector, '--otel-insecure', '--otel-sampling-rate', '1']
    const mounts = ['-v', `${home.path}/server.cjs:/srv/server.cjs:ro`]
    const flags = [
      '--runtime',
      'docker',
      '--transport',
      'stdio',
      '--no-isolate-network',
      ...exported,
      ...mounts,
    ]
    const server = ['--', 'node', '/srv/server.cjs']
    const url = await home.ok(['run', IMAGE, '--name', name, ...flags, ...authorized('old'), ...server])
    const before = await configOf(home, name)

    const failed = await home.keelson(['edit', name, '-e', 'FAIL=1', ...authorized('new')])
    expect(failed.stderr).toContain('runs as before')
    expect(await configOf(home, name)).toEqual(before)
    seen.length = 0
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      }),
    })
    expect(response.status).toBe(200)
    await response.text()
    await home.ok(['stop', name]) // what is collected is sent then
    await expect.poll(() => [...new Set(seen)], { timeout: 30_000 }).toEqual(['old'])
  },
)

test('rename keeps port, status and what is kept for the workload alone', SLOW, async () => {
  const home = await withNotes({ secrets: true }, '--remote-forward-headers', 'x-api-key=s3cret')
  const [before] = await rows(home)
  expect(JSON.stringify(await configOf(home, 'notes'))).not.toContain('s3cret')
  expect(await home.ok(['rename', 'notes', 'papers'])).toBe('notes: renamed to papers')
  expect(await rows(home)).toMatchObject([{ name: 'papers', status: 'running', port: before.port }])
  const exported = JSON.stringify(await configOf(home, 'papers'))
  expect(exported).not.toContain('s3cret')
  expect(exported).not.toContain('notes')
  expect(await home.ok(['restart', 'papers'])).toBe('papers: running')
  expect(await home.keelson(['rename', 'papers', 'a/b'])).toMatchObject({ code: 2 })
})

test('clone runs a copy with a port and kept secrets of its own', SLOW, async () => {
  const home = await withNotes({ secrets: true }, '--remote-forward-headers', 'x-api-key=s3cret')
  const url = await home.ok(['clone', 'notes', 'papers'])
  const [notes, papers] = await rows(home)
  expect(papers).toMatchObject({ name: 'papers', status: 'running', url })
  expect(papers.port).not.toBe(notes.port)
  await home.ok(['rm', 'notes'])
  expect(await home.ok(['restart', 'papers'])).toBe('papers: running')
  expect(await home.keelson(['clone', 'papers', 'papers'])).toMatchObject({ code: 1 })
  const log = await readFile(join(home.path, '.local/share/keelson/logs/papers.log'), 'utf8')
  expect(log).not.toContain('s3cret')
})

async function holdPort(): Promise<number> {
  const server: Server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}
