import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isLong } from '../support/series.ts'
import { clientV1, textOf } from './clients.ts'
import { type Home, openHome, until } from './home.ts'
import { startLoad } from './load.ts'
import { flagsOf, leftOvers, needsPlace, type Place } from './places-to-run.ts'
import { shareToolCaches } from './tool-caches.ts'

const repository = new URL('../..', import.meta.url).pathname
const EVERYTHING = 'npx://@modelcontextprotocol/server-everything@2026.8.31'

const add = { name: 'add', args: (n: number) => ({ a: n, b: 1 }), right: (n: number) => String(n + 1) }
const echo = {
  name: 'echo',
  args: (n: number) => ({ message: `n${n}` }),
  right: (n: number) => `Echo: n${n}`,
}

/** Ends the server itself, as a crash would: nobody is asked and nothing is cleaned up. */
async function killServer(home: Home, place: Place, workload: string): Promise<void> {
  if (place !== 'process') {
    const { status, stderr } = spawnSync(place, ['kill', workload], { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return
  }
  process.kill(await serverPid(home, workload), 'SIGKILL')
}

/** The process of a workload in the process runtime, as its record says. */
async function serverPid(home: Home, workload: string): Promise<number> {
  const files = await readdir(home.path, { recursive: true })
  for (const file of files.filter(name => /\/processes\/.*\.json$/.test(name))) {
    const text = await readFile(join(home.path, file), 'utf8').catch(() => '')
    if (!text.includes(`"${workload}"`)) continue
    const pid = Number(/"identity":\s*"(\d+)@/.exec(text)?.[1])
    if (pid) return pid
  }
  throw new Error(`no record of ${workload} among ${files.join(' ')}`)
}

/** Processes that have to do with a home folder: its path is in their arguments or their environment. */
async function processesOf(home: Home): Promise<string[]> {
  const found: string[] = []
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
    const command = await read('cmdline')
    if (`${command}${await read('environ')}`.includes(home.path)) found.push(command.replaceAll('\0', ' '))
  }
  return found
}

describe.each(['docker', 'podman', 'process'] as const)('under load on %s', { timeout: 300_000 }, place => {
  const servers = [
    ['stdio', `e2e-chaos-stdio-${place}`, add, ['go://./fixtures/go-server', ...flagsOf(place, 'go')], []],
    [
      'HTTP',
      `e2e-chaos-http-${place}`,
      echo,
      [
        EVERYTHING,
        ...flagsOf(place),
        '--transport',
        'streamable-http',
        '--target-port',
        '3988',
        '-e',
        'PORT=3988',
      ],
      ['--', 'streamableHttp'],
    ],
  ] as const
  let home: Home
  beforeAll(async () => {
    home = await openHome()
    await shareToolCaches(home)
  })
  afterAll(() => home?.close(), 120_000)

  // HTTP is passed through in the same way wherever the server runs.
  test.each(servers.filter(([transport]) => transport === 'stdio' || place === 'docker' || isLong))(
    'a killed %s server and a killed supervisor are replaced; only calls under way when the supervisor is killed are lost',
    async (_, name, tool, target, args) => {
      const up = await home.keelson(['run', ...target, '--name', name, ...args], { cwd: repository })
      // A test that failed half way leaves its name free for the next try.
      onTestFinished(async () => void (await home.keelson(['rm', name])))
      expect(up).toMatchObject({ code: 0 })
      const url = up.stdout
      const load = startLoad(url, 4, tool)
      onTestFinished(() => load.stop())
      const moreAnswers = async () => {
        const before = load.answers
        await until(() => expect(load.answers).toBeGreaterThan(before + 50))
      }
      await moreAnswers()

      await killServer(home, place, name)
      await moreAnswers()
      await until(async () => expect(await home.ok(['status', name])).toContain('running'))

      const supervisor = await home.supervisor()
      const whole = Date.now()
      await moreAnswers()
      process.kill(supervisor, 'SIGKILL')
      const killed = Date.now()
      load.giveUp(whole)
      await moreAnswers()
      expect(await home.supervisor()).not.toBe(supervisor)
      await until(async () => expect(await home.ok(['status', name])).toContain('running'))

      await load.stop()
      const lost = load.lost.filter(startedAt => startedAt < whole || startedAt > killed)
      expect({ wrong: load.wrong, lost }).toEqual({ wrong: 0, lost: [] })
      await home.ok(['rm', name, '--ignore-missing'])
      if (place !== 'process') expect(leftOvers(place, name)).toEqual([])
      await expect(fetch(url)).rejects.toThrow()
    },
  )

  test('nothing of all that runs any more', async context => {
    needsPlace(context, place)
    expect(await home.ok(['list', '--all'])).toBe('There are no workloads.')
    const pid = await home.supervisor()
    if (pid) process.kill(pid, 'SIGTERM')
    await until(async () => expect(await processesOf(home)).toEqual([]))
  })
})

describe.each(['docker', 'process'] as const)('run interrupted on %s', { timeout: 300_000 }, place => {
  const name = `e2e-interrupted-${place}`
  let home: Home
  /** The program's temporary folder, so that nothing of other programs is counted. */
  let temporary = ''
  let source = ''
  beforeAll(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'keelson-e2e-'))
    home = await openHome({ TMPDIR: temporary })
    await shareToolCaches(home)
    source = join(home.path, 'go-server')
    await cp(join(repository, 'fixtures/go-server'), source, { recursive: true })
  })
  afterAll(async () => {
    await home?.close()
    await rm(temporary, { recursive: true, force: true })
    if (place !== 'process') removeImages(place, `go://${source}`)
  }, 120_000)

  /** Runs code that was never built before, and kills the program when it says the word. */
  async function runUntil(word: string, signal: NodeJS.Signals): Promise<number | null> {
    await appendFile(join(source, 'main.go'), `// ${Math.random()}\n`)
    const flags = flagsOf(place, 'go')
    const child = home.start(['run', 'go://./go-server', '--name', name, ...flags])
    const ended = once(child, 'exit')
    await said(child.stderr, word)
    child.kill(signal)
    const [code] = (await ended) as [number | null]
    return code
  }
  const builds = async () => (await readdir(temporary)).filter(file => file.startsWith('keelson-build'))

  async function expectNothing(): Promise<void> {
    expect(await home.ok(['list', '--all'])).toBe('There are no workloads.')
    if (place !== 'process') await until(() => expect(leftOvers(place, name)).toEqual([]))
    const files = await readdir(home.path, { recursive: true })
    expect(files.filter(file => /(runconfigs|statuses|processes)\/.*interrupted/.test(file))).toEqual([])
    expect(files.filter(file => /\.tmp$/.test(file))).toEqual([])
  }

  test.each(['Building', 'Starting'])('Ctrl-C while it says "%s" leaves nothing behind', async word => {
    const before = await builds()
    const wanted = place === 'process' && word === 'Building' ? /Building|Installing|Compiling/i.source : word
    expect(await runUntil(wanted, 'SIGINT')).toBe(130)
    await expectNothing()
    expect(await builds()).toEqual(before)
  })

  test('after a kill during its start the workload is shown, and rm removes it', async () => {
    expect(await runUntil('Starting', 'SIGKILL')).toBe(null)
    await until(async () => {
      const shown = JSON.parse(await home.ok(['list', '--all', '--format', 'json'])) as { status: string }[]
      expect(shown.map(({ status }) => status).filter(status => status !== 'running')).toEqual([])
    })
    await home.ok(['rm', name, '--ignore-missing'])
    await expectNothing()
  })

  test('killed while it builds: the same command again works', async () => {
    expect(
      await runUntil(place === 'process' ? 'Building|Installing|Compiling' : 'Building', 'SIGKILL'),
    ).toBe(null)
    expect(await home.ok(['list', '--all'])).toBe('There are no workloads.')
    const url = await home.ok(['run', 'go://./go-server', '--name', name, ...flagsOf(place, 'go')])
    const client = await clientV1(url)
    expect(textOf(await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } }))).toBe('2')
    await home.ok(['rm', name, '--ignore-missing'])
    await expectNothing()
  })
})

/** Removes what was built of code that no other test runs. */
function removeImages(engine: 'docker' | 'podman', source: string): void {
  const list = ['images', '--quiet', '--filter', `label=keelson-package=${source}`]
  const ids = spawnSync(engine, list, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
  if (ids.length > 0) spawnSync(engine, ['rmi', '--force', ...new Set(ids)])
}

/** Resolves when the stream has said what the pattern means; goes on reading. */
function said(stream: Readable | null, pattern: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    stream?.on('data', chunk => {
      text += String(chunk)
      if (new RegExp(pattern, 'i').test(text)) resolve()
    })
    stream?.once('end', () => reject(new Error(`it never said ${pattern}: ${text}`)))
  })
}
