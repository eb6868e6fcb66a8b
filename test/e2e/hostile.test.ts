import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { clientV1, textOf } from './clients.ts'
import { type Home, openHome, until } from './home.ts'
import { flagsOf, leftOvers, needsPlace } from './places-to-run.ts'
import { shareToolCaches } from './tool-caches.ts'

// fixtures/go-server as it should be, and beside it, in the same supervisor, as it should not.
const repository = new URL('../..', import.meta.url).pathname
const GOOD = 'e2e-good'
const BAD = 'e2e-bad'

describe.each(['docker', 'process'] as const)('on %s', { timeout: 300_000 }, place => {
  let home: Home
  let good = ''
  let coming: Promise<void> | undefined

  /** The good server, started by the first test that needs it. */
  async function goodServer(context: TestContext): Promise<void> {
    needsPlace(context, place, 'go')
    coming ??= (async () => {
      const { code, stdout, stderr } = await run(GOOD, [])
      expect(stderr).toContain('is running')
      expect(code).toBe(0)
      good = stdout
    })()
    await coming
  }

  const run = (name: string, ways: string[], ...more: string[]) => {
    const where = flagsOf(place, 'go')
    const args = ['run', 'go://./fixtures/go-server', '--name', name, ...where, ...more, '--', ...ways]
    // A test that failed on its way leaves its server, in whose place the next one starts its own.
    if (name === BAD) onTestFinished(async () => void (await home.keelson(['rm', '--force', BAD])))
    return home.keelson(args, { cwd: repository })
  }
  beforeAll(async () => {
    home = await openHome()
    await shareToolCaches(home)
  })
  afterAll(() => home?.close(), 120_000)

  /** What the neighbour must go on doing whatever happens beside it: calls of new and of old sessions. */
  async function goodAnswers(): Promise<void> {
    const client = await clientV1(good)
    for (let i = 0; i < 20; i++) {
      expect(textOf(await client.callTool({ name: 'add', arguments: { a: i, b: 1 } }))).toBe(String(i + 1))
    }
  }

  /**
   * The most that the supervisor ever held. Servers here write gigabytes, so what is kept of them would
   * show; a single line may legitimately be 32 MiB, which is held several times while it is read and passed on.
   */
  async function mostMebibytes(): Promise<number> {
    const text = readFileSync(`/proc/${await home.supervisor()}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(text)?.[1]) / 1024
  }

  test('an ordinary server starts', async context => {
    await goodServer(context)
    await goodAnswers()
  })

  test.for(['floods', 'huge-lines', 'invalid-json', 'never-answers', 'ignores-signals'])(
    'a server that %s can be stopped, started and removed, and others keep running',
    async (way, context) => {
      await goodServer(context)
      const pid = await home.supervisor()
      const { code, stdout: url } = await run(BAD, [way], ...(place === 'docker' ? ['--cpus', '0.3'] : []))
      expect(code).toBe(0)
      if (way === 'invalid-json' || way === 'ignores-signals') {
        const client = await clientV1(url)
        expect(textOf(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } }))).toBe('3')
      } else {
        const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
        await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(1000) }).catch(() => undefined)
      }
      await goodAnswers()
      await home.ok(['stop', BAD])
      await goodAnswers()
      await home.ok(['start', BAD])
      await goodAnswers()
      await home.ok(['rm', BAD])
      await goodAnswers()
      expect(await home.supervisor()).toBe(pid)
      expect(await mostMebibytes()).toBeLessThan(450)
    },
  )

  test('a server that exits at once fails its run in plain words and leaves nothing', async context => {
    await goodServer(context)
    const { code, stdout, stderr } = await run(BAD, ['exits-at-once'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/Error: The server of "e2e-bad" ended before it was ready \(.*3.*\)/)
    expect(stderr).toContain('there is no database')
    expect(await home.ok(['list', '--all'])).not.toContain(BAD)
    if (place !== 'process') expect(leftOvers(place, BAD)).toEqual([])
    await goodAnswers()
  })

  test('a server that exits when it is called is restarted, and the call fails at once', async context => {
    await goodServer(context)
    const { stdout: url } = await run(BAD, ['exits-when-called'])
    const client = await clientV1(url)
    await expect(client.callTool({ name: 'misbehave', arguments: {} })).rejects.toThrow()
    await until(async () => {
      expect(textOf(await client.callTool({ name: 'add', arguments: { a: 2, b: 2 } }))).toBe('4')
    })
    await goodAnswers()
  })

  if (place === 'docker') {
    test('a fork bomb stays within its limit of processes', async context => {
      await goodServer(context)
      const { stdout: url } = await run(BAD, ['fork-bomb'])
      const client = await clientV1(url)
      expect(textOf(await client.callTool({ name: 'misbehave', arguments: {} }))).toMatch(
        /stopped after \d{1,3} processes/,
      )
      await goodAnswers()
      await home.ok(['rm', BAD])
      expect(leftOvers('docker', BAD)).toEqual([])
    })

    test('a server beyond its memory limit is killed alone and restarted', async context => {
      await goodServer(context)
      const { stdout: url } = await run(BAD, ['memory-hog'], '--memory', '64m')
      const client = await clientV1(url)
      await expect(client.callTool({ name: 'misbehave', arguments: {} })).rejects.toThrow()
      await goodAnswers()
      await until(async () => {
        expect(textOf(await client.callTool({ name: 'add', arguments: { a: 2, b: 2 } }))).toBe('4')
      })
    })
  }
})
