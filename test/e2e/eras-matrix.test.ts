import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { needs } from '../support/left-out.ts'
import { type RunningServer, startFixture, startServer } from '../support/mcp-fixtures/start-server.ts'
import { type Home, openHome } from './home.ts'
import { type ClientProcess, startClientProcess } from './matrix/client-process.ts'
import {
  CLIENTS,
  FEATURE_NAMES,
  type FeatureName,
  reachedOver,
  type Sdk,
  SERVERS,
  type ServerKind,
  STATELESS,
  serverName,
} from './matrix/combinations.ts'
import type { Connect } from './matrix/era-client.ts'
import { firstSdkClient } from './matrix/first-sdk-client.ts'
import { erasMatrix } from './matrix/page.ts'
import {
  type Cell,
  COMBINATIONS,
  type Combination,
  cellOf,
  type Gaps,
  gapsOf,
  HANGS,
  keyOf,
} from './matrix/results.ts'
import { PASSES, runClient } from './matrix/run-client.ts'
import { secondSdkClient } from './matrix/second-sdk-client.ts'
import { needsPlace } from './places-to-run.ts'

const GAPS = new URL('matrix/gaps.json', import.meta.url)
const PAGE = new URL('../../docs/eras-matrix.md', import.meta.url)
const STATE = process.env.KEELSON_TEST_STATE ?? '/var/tmp/keelson-test'
const root = new URL('../..', import.meta.url).pathname
const PYTHON_CLIENT = `${root}fixtures/eras/python-client.py`
const GO = `${STATE}/go-sdk/eras`
const readGaps = (): Gaps => JSON.parse(readFileSync(GAPS, 'utf8'))
const known = readGaps()

let home: Home
let sessions: RunningServer
let stateless: RunningServer
/** Servers of SDKs of other languages, by `keyOfServer`. */
const foreign = new Map<string, RunningServer>()
const clientProcesses: ClientProcess[] = []
beforeAll(async () => {
  home = await openHome()
  sessions = await startFixture('eras/session-http.ts')
  stateless = await startFixture('eras/stateless-http.ts')
})
afterAll(async () => {
  for (const clients of clientProcesses) clients.kill()
  await home?.close()
  await Promise.all([
    sessions?.kill(),
    stateless?.kill(),
    ...[...foreign.values()].map(server => server.kill()),
  ])
}, 120_000)

/** Runs a server; returns the URL for clients. */
function runServer(server: ServerKind): Promise<string> {
  const { revision, transport, sdk } = server
  const run = ['run', '--name', `matrix-${revision}-${transport}${sdk ? `-${sdk.replace(' ', '-')}` : ''}`]
  const origin = foreign.get(keyOfServer(server))?.origin
  // That of Go responds to `initialize` also where it serves 2026-07-28 only.
  const isSaid = sdk === 'Go' && revision === STATELESS
  if (origin) return home.ok([...run, ...(isSaid ? ['--protocol', 'stateless'] : []), `${origin}/mcp`])
  const onDocker = ['--runtime', 'docker', '--transport', 'stdio']
  if (sdk) return home.ok([...run, ...onDocker, ...stdioOf(sdk, revision)])
  if (transport === 'sse')
    return home.ok([...run, '--transport', 'sse', `${sessions.origin}/${revision}/sse`])
  if (transport === 'streamable-http')
    return home.ok([
      ...run,
      revision === STATELESS ? `${stateless.origin}/mcp` : `${sessions.origin}/${revision}/mcp`,
    ])
  const file = revision === STATELESS ? 'stateless-stdio.ts' : 'session-stdio.ts'
  return home.ok([
    ...[...run, ...onDocker],
    ...(transport === 'stdio-sse' ? ['--proxy-mode', 'sse'] : []),
    ...[
      '-v',
      `${root}:/srv:ro`,
      'keelson-test/node:24',
      '--',
      'node',
      `/srv/fixtures/eras/${file}`,
      revision,
    ],
  ])
}

const keyOfServer = (server: ServerKind): string => `${serverName(server)} ${server.transport}`

/** Image and command of a stdio server of another language. */
const stdioOf = (sdk: 'Go' | PythonSdk, revision: string): string[] =>
  sdk === 'Go'
    ? ['-v', `${GO}:/eras:ro`, 'keelson-test/busybox:1', '--', '/eras', 'stdio', revision]
    : [
        ...['-v', `${placeOf(sdk)}:${placeOf(sdk)}:ro`, '-v', `${root}:/srv:ro`],
        ...['keelson-test/python:3', '--', pythonOf(sdk), `/srv/fixtures/eras/${PYTHON_SERVERS[sdk]}`],
      ]

/** Files of fixtures/eras. */
const PYTHON_SERVERS = { 'Python 1': 'python-server.py', 'Python 2': 'python-server-2.py' } as const
type PythonSdk = keyof typeof PYTHON_SERVERS

const placeOf = (sdk: PythonSdk): string => `${STATE}/python-sdk-${sdk.slice(-1)}`
const pythonOf = (sdk: PythonSdk): string => `${placeOf(sdk)}/bin/python`

/** Starts the clients of an SDK of another language. */
function foreignClient(context: TestContext, program: string, args: readonly string[]): Connect {
  needs(context, existsSync(program) ? undefined : `${program} is missing: run test/support/engines/setup.sh`)
  const clients = startClientProcess(program, args)
  clientProcesses.push(clients)
  return clients.connect
}

/** Starts the servers over HTTP of SDKs of other languages. */
async function startForeign(): Promise<void> {
  for (const server of SERVERS) {
    const { sdk, transport, revision } = server
    if (!sdk || transport !== 'streamable-http') continue
    const [program, args] =
      sdk === 'Go'
        ? [GO, ['http', revision]]
        : [pythonOf(sdk), [`${root}fixtures/eras/${PYTHON_SERVERS[sdk]}`]]
    foreign.set(keyOfServer(server), await startServer(args, { program }))
  }
}

type Cells = Map<Combination, Map<FeatureName, Cell>>

/** Runs a server, and all clients against it, one after the other. */
async function tryServer(server: ServerKind, connect: Record<Sdk, Connect>): Promise<Cells> {
  const url = new URL(await runServer(server))
  const cells: Cells = new Map(CLIENTS.map(client => [{ client, server }, new Map()]))
  for (const pass of PASSES)
    for (const [combination, found] of cells) {
      const { sdk, revision, over } = combination.client
      const open = () => connect[sdk](revision, url, over === 'either' ? reachedOver(server) : over)
      const before = (feature: FeatureName) => cellOf(known, feature, combination)
      for (const [feature, cell] of await runClient(combination, open, pass, before)) found.set(feature, cell)
    }
  return cells
}

test('every client reaches every server as far as the page says', { timeout: 600_000 }, async context => {
  needsPlace(context, 'docker')
  const connect = {
    'TypeScript 1': firstSdkClient,
    'TypeScript 2': secondSdkClient,
    'Python 1': foreignClient(context, pythonOf('Python 1'), [PYTHON_CLIENT]),
    'Python 2': foreignClient(context, pythonOf('Python 2'), [PYTHON_CLIENT]),
    Go: foreignClient(context, GO, ['client']),
  }
  await startForeign()
  const found = new Map<string, Cell>()
  const waiting = [...SERVERS]
  const work = async () => {
    for (let server = waiting.shift(); server; server = waiting.shift())
      for (const [combination, cells] of await tryServer(server, connect))
        for (const [feature, cell] of cells) found.set(keyOf(feature, combination), cell)
  }
  await Promise.all(Array.from({ length: 4 }, work))

  const gaps = gapsOf(found)
  if (process.env.KEELSON_WRITE_MATRIX) {
    writeFileSync(GAPS, `${JSON.stringify(gaps, null, 2)}\n`)
    writeFileSync(PAGE, erasMatrix(gaps))
  }
  expect(changes(readGaps(), gaps), 'KEELSON_WRITE_MATRIX=1 with this test rewrites the page').toEqual([])
})

/** Cells whose kind is another than before. The words of a reason do not count: they are those of an SDK. */
const changes = (before: Gaps, after: Gaps): string[] =>
  COMBINATIONS.flatMap(combination =>
    FEATURE_NAMES.flatMap(feature => {
      const [old, now] = [before, after].map(gaps => cellOf(gaps, feature, combination))
      return kindOf(old) === kindOf(now) ? [] : [`${keyOf(feature, combination)}: was ${old}, is ${now}`]
    }),
  )

const kindOf = (cell: Cell = 'yes') => (cell.startsWith('no: ') && cell !== HANGS ? 'no' : cell)
