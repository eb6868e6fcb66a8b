import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type AuditLog, createAuditLogs } from '../../../plugins/audit/service.ts'
import type { LogSettings } from '../../../plugins/audit/settings.ts'
import { verifyLog } from '../../../plugins/audit/verify-log.ts'
import { createLog } from '../../../src/log.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { auditedProxy, auditFactories, readEvents, temporaryFolder } from './audited-proxy.ts'

const quiet = createLog({ write: () => {}, human: false, debug: false })

async function settings(more: Partial<LogSettings> = {}): Promise<LogSettings> {
  const path = join(await temporaryFolder(), 'audit.jsonl')
  return { path, isOwn: false, maxFileSize: 100_000_000, maxFiles: undefined, hashChain: false, ...more }
}

async function openLog(of: LogSettings): Promise<AuditLog> {
  const log = await createAuditLogs().open(of, quiet)
  onTestFinished(() => log.close())
  return log
}

const numbers = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line).n)
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** The files of a log, oldest first. */
const filesOf = (path: string) =>
  readdirSync(dirname(path))
    .filter(name => name.startsWith(basename(path)) && !/\.(?:chain|lock)$/.test(name))
    .sort()
    .map(name => join(dirname(path), name))
    .toSorted((a, b) => (a === path ? 1 : 0) - (b === path ? 1 : 0))

describe('a log', () => {
  test('begins a new file when one is full, and loses no line', async () => {
    const of = await settings({ maxFileSize: 4096 })
    const log = await openLog(of)
    for (const n of upTo(300)) expect(log.write({ n, text: 'x'.repeat(100) })).toBeUndefined()
    const files = filesOf(of.path)
    expect(files.length).toBeGreaterThan(5)
    for (const file of files) {
      expect(statSync(file).size).toBeLessThanOrEqual(4096)
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }
    expect(files.flatMap(file => numbers(readFileSync(file, 'utf8')))).toEqual(upTo(300))
  })

  test('keeps as many full files as it was told to', async () => {
    const of = await settings({ maxFileSize: 4096, maxFiles: 2 })
    const log = await openLog(of)
    for (const n of upTo(300)) log.write({ n, text: 'x'.repeat(100) })
    const files = filesOf(of.path)
    expect(files).toHaveLength(3)
    const kept = files.flatMap(file => numbers(readFileSync(file, 'utf8')))
    expect(kept).toEqual(upTo(300).slice(-kept.length))
  })

  test('that somebody has moved is begun again on SIGHUP', async () => {
    const of = await settings()
    const log = await openLog(of)
    for (const n of upTo(20)) {
      log.write({ n })
      if (n !== 9) continue
      renameSync(of.path, `${of.path}.moved`)
      process.emit('SIGHUP', 'SIGHUP')
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(numbers(readFileSync(`${of.path}.moved`, 'utf8'))).toEqual(upTo(10))
    expect(numbers(readFileSync(of.path, 'utf8'))).toEqual(upTo(20).slice(10))
  })

  test('that ends inside a line goes on with a line of its own', async () => {
    const of = await settings()
    writeFileSync(of.path, '{"n":0}\n{"n":')
    const log = await openLog(of)
    log.write({ n: 1 })
    expect(readFileSync(of.path, 'utf8')).toBe('{"n":0}\n{"n":\n{"n":1}\n')
  })

  test('whose folder is missing is refused', async () => {
    const { path, ...others } = await settings()
    const gone = { ...others, path: join(dirname(path), 'none', 'audit.jsonl') }
    await expect(createAuditLogs().check(gone)).rejects.toMatchObject({ code: 'audit_log_unwritable' })
  })

  test('is not shared between workloads with a chain and without one', async () => {
    const of = await settings()
    const logs = createAuditLogs()
    const log = await logs.open(of, quiet)
    onTestFinished(() => log.close())
    await expect(logs.open({ ...of, hashChain: true }, quiet)).rejects.toMatchObject({
      code: 'audit_log_shared',
    })
  })
})

describe('a hash chain', () => {
  async function chained(count: number, more: Partial<LogSettings> = {}) {
    const of = await settings({ hashChain: true, ...more })
    const log = await openLog(of)
    for (const n of upTo(count)) log.write({ n, text: 'x'.repeat(100) })
    return { of, log }
  }

  test('goes on across files and restarts', async () => {
    const { of, log } = await chained(50, { maxFileSize: 4096 })
    log.close()
    const again = await openLog(of)
    for (const n of upTo(50)) again.write({ n: 50 + n, text: 'x'.repeat(100) })
    expect(filesOf(of.path).length).toBeGreaterThan(2)
    expect(await verifyLog(of.path)).toMatchObject({ lines: 100, first: 1, missing: 0 })
    expect((await verifyLog(of.path)).broken).toBeUndefined()
  })

  test.each<[string, (text: string) => string, number]>([
    ['changed', text => text.replace('"n":4', '"n":5'), 6],
    ['removed', text => text.replace(/.*"n":4.*\n/, ''), 5],
    ['added', text => text.replace(/(.*"n":4.*\n)/, '$1$1'), 6],
    ['made unreadable', text => text.replace('"n":4', '"n":'), 5],
  ])('shows where a line was %s', async (_, change, line) => {
    const { of } = await chained(10)
    writeFileSync(of.path, change(readFileSync(of.path, 'utf8')))
    expect((await verifyLog(of.path)).broken).toMatchObject({ file: of.path, line })
  })

  test('shows how many lines are missing at the end, also after a restart', async () => {
    const { of, log } = await chained(10)
    const lines = readFileSync(of.path, 'utf8').split('\n')
    writeFileSync(of.path, `${lines.slice(0, 7).join('\n')}\n`)
    expect(await verifyLog(of.path)).toMatchObject({ missing: 3 })
    log.close()
    const again = await openLog(of)
    again.write({ n: 10 })
    expect((await verifyLog(of.path)).broken).toMatchObject({
      line: 8,
      problem: 'it has the number 11 after 7',
    })
  })

  test('goes on behind a line that was not written whole', async () => {
    const { of, log } = await chained(3)
    log.close()
    appendFileSync(of.path, '{"n":3,"te')
    const again = await openLog(of)
    again.write({ n: 3 })
    expect(numbers(readFileSync(of.path, 'utf8'))).toEqual([0, 1, 2, 3])
    expect(await verifyLog(of.path)).toMatchObject({ lines: 4, missing: 0 })
  })

  test('without its older files begins later, also where several are full within a millisecond', async () => {
    const { of } = await chained(1000, { maxFileSize: 300, maxFiles: 3 })
    const { first, lines } = await verifyLog(of.path)
    expect(first).toBeGreaterThan(1)
    expect(first + lines - 1).toBe(1000)
  })
})

describe('what cannot be written', () => {
  const server = () =>
    testServer((request, response) => {
      request.resume()
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","id":1,"result":{}}')
    })

  /** A file system of one size, which is full soon. */
  async function smallDisk(): Promise<string> {
    const folder = join(await temporaryFolder(), 'disk')
    await mkdir(folder)
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status).toBe(0)
    onTestFinished(() => void spawnSync('umount', ['-l', folder]))
    return folder
  }

  test('does not stop calls, and how many lines are missing is written later', async () => {
    const folder = await smallDisk()
    const path = join(folder, 'audit.jsonl')
    const proxy = await auditedProxy({ target: await server(), audit: { logFile: path } })
    expect((await post(proxy.url, rpc('ping', 1))).status).toBe(200)
    const filler = join(folder, 'filler')
    try {
      writeFileSync(filler, 'x'.repeat(100_000))
    } catch {}
    const room = 4096 - (statSync(path).size % 4096)
    for (let n = 0; n < 3 + room / 300; n++) expect((await post(proxy.url, rpc('ping', n))).status).toBe(200)
    expect(proxy.logged.filter(line => line.includes('cannot be written'))).toHaveLength(1)

    truncateSync(filler)
    expect((await post(proxy.url, rpc('ping', 'last'))).status).toBe(200)
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
    const last = lines.slice(-2).map(line => JSON.parse(line))
    expect(last).toMatchObject([
      { type: 'audit_gap', metadata: { extra: { lost_events: expect.any(Number) } } },
      { type: 'mcp_ping', metadata: { extra: { jsonrpc_id: 'last' } } },
    ])
  })

  test.each([
    ['a full device', '/dev/full'],
    ['a folder', '/tmp'],
  ])('stops calls before they reach the server where that is asked for: %s', async (_, logFile) => {
    let reached = 0
    const target = await testServer((request, response) => {
      reached++
      request.resume()
      response.end('{}')
    })
    const proxy = await auditedProxy({ target, audit: { logFile, onError: 'refuse' } })
    const response = await post(proxy.url, rpc('tools/call', 7, { name: 'a' }))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10'])
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32000, message: 'The call cannot be recorded in the audit log' },
    })
    expect(reached).toBe(0)
  })

  test('is written before the call reaches the server where calls are refused otherwise', async () => {
    const seen: string[] = []
    let path = ''
    const target = await testServer((request, response) => {
      seen.push(...readEvents(path).map(({ phase, outcome }) => `${phase} ${outcome}`))
      request.resume()
      response.end('{}')
    })
    const proxy = await auditedProxy({ target, audit: { onError: 'refuse' } })
    path = proxy.path
    await (await post(proxy.url, rpc('tools/call', 7, { name: 'a' }))).text()
    expect(seen).toEqual(['open pending'])
    const [open, end] = proxy.events()
    expect(end).toMatchObject({ phase: 'end', outcome: 'success', audit_id: open?.audit_id })
  })
})

test('two workloads share a file', async () => {
  const folder = await temporaryFolder()
  const factories = auditFactories(folder)
  const audit = { logFile: join(folder, 'both.jsonl'), hashChain: true }
  const target = await testServer(
    (request, response) => void request.resume().on('end', () => response.end('{}')),
  )
  const [a, b] = await Promise.all(
    ['a', 'b'].map(name => auditedProxy({ target, audit, factories, config: { name } })),
  )
  await Promise.all(upTo(40).map(async n => (await post((n % 2 ? a : b)?.url ?? '', rpc('ping', n))).text()))
  const events = readEvents(audit.logFile)
  expect(
    events.map(({ metadata }) => metadata.extra.jsonrpc_id).toSorted((x, y) => Number(x) - Number(y)),
  ).toEqual(upTo(40))
  expect(new Set(events.map(({ component }) => component))).toEqual(new Set(['a', 'b']))
  expect(await verifyLog(audit.logFile)).toMatchObject({ lines: 40, missing: 0 })
})

test('a log that is not there, or is a folder, cannot be verified', async () => {
  const folder = await temporaryFolder()
  for (const [path, problem] of [
    [join(folder, 'missing.jsonl'), 'there is no such file.'],
    [join(folder, 'missing', 'a.jsonl'), 'there is no such file.'],
    [folder, 'it is not a file.'],
  ] as const) {
    const message = `The audit log ${path} cannot be read: ${problem}`
    await expect(verifyLog(path)).rejects.toMatchObject({ code: 'audit_log_missing', message })
  }
})
