import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningServer, startFixture } from '../support/mcp-fixtures/start-server.ts'
import { type CrossCell, DIFFERENCES, type Status } from './conformance/differences.ts'
import { runSuite, SUITES } from './conformance/run-suite.ts'
import { type Home, openHome } from './home.ts'
import { needsPlace } from './places-to-run.ts'

// The official suites of each era at servers of the other one, through the program.
const OLDER = ['--requirements', '2025-11-25']
const NEWER = ['--requirements', '2026-07-28']

let home: Home
let sessions: RunningServer
let stateless: RunningServer
beforeAll(async () => {
  home = await openHome()
  sessions = await startFixture('http-server-2025.ts')
  stateless = await startFixture('http-server-modern.ts')
})
afterAll(async () => {
  await home?.close()
  await Promise.all([sessions?.kill(), stateless?.kill()])
}, 120_000)

let names = 0
/** A new name for each workload. */
const newName = (): string => `conformance-${++names}`

/** Runs a stdio server of the fixtures in a container. Returns the URL of its proxy. */
const runStdio = (fixture: string): Promise<string> =>
  home.ok([
    ...['run', '--runtime', 'docker', '--name', newName(), '--transport', 'stdio'],
    ...['-v', `${new URL('../..', import.meta.url).pathname}:/srv:ro`, 'keelson-test/node:24'],
    ...['--', 'node', `/srv/fixtures/stdio-servers/${fixture}`],
  ])

const RANK: readonly Status[] = ['FAILURE', 'WARNING', 'SKIPPED', 'SUCCESS']

/** The worst status of each check. */
function statuses(results: readonly string[]): Map<string, Status> {
  const found = new Map<string, Status>()
  for (const line of results) {
    const at = line.lastIndexOf(' ')
    const check = line.slice(0, at)
    // What is only told may come or not, as fast as the machine is.
    const status = line.slice(at + 1).replace('INFO', 'SUCCESS') as Status
    const before = found.get(check)
    if (before === undefined || RANK.indexOf(status) < RANK.indexOf(before)) found.set(check, status)
  }
  return found
}

/** How the checks end in a cross cell that end in another way directly. */
function differences(direct: readonly string[], cross: readonly string[]): Record<string, Status> {
  const [before, after] = [statuses(direct), statuses(cross)]
  const different: Record<string, Status> = {}
  for (const check of new Set([...before.keys(), ...after.keys()])) {
    const status = after.get(check) ?? 'MISSING'
    if (status !== before.get(check)) different[check] = status
  }
  return different
}

const expected = (cell: CrossCell): Record<string, Status> =>
  Object.assign({}, ...DIFFERENCES.filter(({ cells }) => cells.includes(cell)).map(({ checks }) => checks))

const OLDER_CELLS: readonly { cell: CrossCell; run: () => Promise<string> }[] = [
  { cell: 'older → stdio', run: () => runStdio('modern-conformance.ts') },
  {
    cell: 'older → streamable HTTP',
    run: () => home.ok(['run', `${stateless.origin}/mcp`, '--name', newName(), '--protocol', 'stateless']),
  },
]

test.for(OLDER_CELLS)(
  '$cell: the suite of 2025-11-25 finds the same at a server of 2026-07-28, but for what has a reason',
  { timeout: 240_000 },
  async ({ cell, run }, context) => {
    needsPlace(context, 'docker')
    const url = await run()
    // The suite of that time has nothing that the newer one does not find in other words.
    const first = await runSuite(SUITES.older, url, [])
    expect(first.length).toBeGreaterThanOrEqual(40)
    expect(first.filter(line => /(?:FAILURE|WARNING)$/.test(line))).toEqual([])

    const direct = await runSuite(SUITES.newer, `${sessions.origin}/mcp`, OLDER)
    const cross = await runSuite(SUITES.newer, url, OLDER)
    expect(direct.filter(line => line.endsWith(' SUCCESS')).length).toBeGreaterThanOrEqual(80)
    expect(differences(direct, cross)).toEqual(expected(cell))
  },
)

/**
 * Runs the suite of 2026-07-28. At a stdio server its scenarios about input run one by one at a server of their own,
 * since it leaves calls of several clients open.
 */
async function findNewer(url: string, inputUrl: string | undefined, direct: string[]): Promise<string[]> {
  const found = await runSuite(SUITES.newer, url, NEWER)
  if (inputUrl === undefined) return found
  const results = found.filter(line => !isAboutInput(line))
  const scenarios = new Set(direct.map(line => line.split(' ')[0] ?? '').filter(isAboutInput))
  for (const scenario of [...scenarios].sort((a, b) => placeOf(a) - placeOf(b))) {
    const args = ['--spec-version', '2026-07-28', '--scenario', scenario]
    results.push(...(await runSuite(SUITES.newer, inputUrl, args)))
  }
  return results
}

/** The one whose call asks for several inputs needs a server without open calls; the last has another client. */
const placeOf = (scenario: string): number =>
  scenario.endsWith('multiple-input-requests') ? 0 : scenario.endsWith('capability-check') ? 2 : 1

const isAboutInput = (line: string): boolean => line.startsWith('input-required')

const STDIO = 'conformance.ts'
const CELLS: readonly { cell: CrossCell; run: () => Promise<string>; input?: () => Promise<string> }[] = [
  {
    cell: 'newer → stdio',
    run: () => runStdio(STDIO),
    input: () => runStdio(STDIO),
  },
  {
    cell: 'newer → streamable HTTP',
    run: () => home.ok(['run', `${sessions.origin}/mcp`, '--name', newName()]),
  },
  {
    cell: 'newer → HTTP+SSE',
    run: () => home.ok(['run', `${sessions.origin}/sse`, '--transport', 'sse', '--name', newName()]),
  },
]

test('the suite of 2026-07-28 finds the same at servers with sessions, but for what has a reason', {
  timeout: 240_000,
}, async context => {
  needsPlace(context, 'docker')
  const direct = await runSuite(SUITES.newer, `${stateless.origin}/mcp`, NEWER)
  expect(direct.filter(line => line.endsWith(' SUCCESS')).length).toBeGreaterThanOrEqual(160)
  const check = async ({ cell, run, input }: (typeof CELLS)[number]) => {
    const cross = await findNewer(await run(), await input?.(), direct)
    expect({ cell, ...differences(direct, cross) }).toEqual({ cell, ...expected(cell) })
  }
  // The suite mostly waits.
  await Promise.all(CELLS.map(check))
})
