import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type BenchClient, connect } from './endpoint-client.ts'
import { type OwnSupervisor, startOwnSupervisor } from './own-supervisor.ts'
import { residentMb } from './proc.ts'
import type { Result } from './result.ts'

const [SERVERS, TOOLS_EACH] = [20, 100]
const [NEW_CLIENTS, LISTS_EACH, CALLS] = [20, 10, 2000]
const [SESSIONS, SERVERS_OF_SESSIONS] = [200, 5]
/** Lists and what a call adds in milliseconds; memory of a session in KB: 300 MB for 1,000. */
const GOALS = { cold: 30, warm: 5, call: 0.3, memory: 300 }

/** An endpoint with 20 servers of 100 tools each, and 200 sessions at one with 5, in a supervisor of the built program. */
export async function run(): Promise<Result> {
  const servers = spawn(
    process.execPath,
    [new URL('endpoint-servers.ts', import.meta.url).pathname, String(TOOLS_EACH)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const supervisor = await startOwnSupervisor()
  try {
    const [printed] = (await once(servers.stdout, 'data')) as [Buffer]
    const { own, endpoint, small } = await addAll(supervisor, Number(String(printed)))
    const first = await firstList(endpoint)
    const lists = await measureLists(endpoint)
    const calls = await measureCalls({ own, endpoint })
    const memory = await measureMemory(small, supervisor.pid)
    const added = calls.endpoint - calls.own
    const perSession = ((memory.called - memory.before) * 1000) / SESSIONS
    const isQuick = lists.cold <= GOALS.cold && lists.warm <= GOALS.warm && added <= GOALS.call
    return {
      name: 'endpoint',
      conditions: `the built program; ${SERVERS} servers in one process, supervisor and clients in one each; no core pinned`,
      measured: lists.count,
      figures: {
        'tools in the list': lists.count,
        'ms from the first client to its first list': first,
        'ms p50 to begin a session, of later clients': lists.begin,
        [`ms p50 of the first list of a client (at most ${GOALS.cold})`]: lists.cold,
        [`ms p50 of its further lists (at most ${GOALS.warm})`]: lists.warm,
        "ms p50 of a call at the server's own URL": calls.own,
        'ms p50 of a call at the endpoint': calls.endpoint,
        [`ms that the endpoint adds (at most ${GOALS.call})`]: added.toFixed(3),
        'MB resident before the sessions': memory.before,
        [`MB resident with ${SESSIONS} sessions that have called ${SERVERS_OF_SESSIONS} servers each`]:
          memory.called,
        [`KB of each session (at most ${GOALS.memory})`]: perSession,
      },
      ok: lists.count === SERVERS * TOOLS_EACH && isQuick && perSession <= GOALS.memory,
    }
  } finally {
    servers.kill()
    await supervisor.close()
  }
}

async function addAll(supervisor: OwnSupervisor, port: number) {
  const remotes = await Promise.all(
    Array.from({ length: SERVERS }, (_, index) =>
      supervisor.add(
        {
          remote_url: `http://127.0.0.1:${port}/${index}/mcp`,
          transport: 'streamable-http',
          group: index < SERVERS_OF_SESSIONS ? 'few' : 'many',
        },
        `s${String(index).padStart(2, '0')}`,
      ),
    ),
  )
  const endpointOf = async (settings: { group: string } | { servers: string[] }) =>
    (
      await supervisor.add(
        {
          ...{ runtime: 'endpoint', image: 'endpoint', transport: 'stdio', proxy_mode: 'streamable-http' },
          ...{ isolate_network: false, sessions: 'per-client' },
          ...{ max_processes: 2000, max_processes_per_caller: 2000, endpoint: settings },
        },
        'endpoint',
      )
    ).port
  return {
    own: remotes[0]?.port ?? 0,
    endpoint: await endpointOf({ servers: remotes.map(({ name }) => name) }),
    small: await endpointOf({ group: 'few' }),
  }
}

async function firstList(port: number): Promise<number> {
  const began = performance.now()
  await (await connect(port)).ask('tools/list')
  return performance.now() - began
}

async function measureLists(port: number) {
  const [begin, cold, warm]: [number[], number[], number[]] = [[], [], []]
  let count = 0
  for (let client = 0; client < NEW_CLIENTS; client += 1) {
    const session = await connect(port)
    begin.push(session.ms)
    const { text, ms } = await session.ask('tools/list')
    cold.push(ms)
    count = text.split('"inputSchema"').length - 1
    for (let list = 0; list < LISTS_EACH; list += 1) warm.push((await session.ask('tools/list')).ms)
  }
  return { count, begin: median(begin), cold: median(cold), warm: median(warm) }
}

/** Calls of the same tool by turns, so that what else the machine does falls on both alike. */
async function measureCalls(ports: { own: number; endpoint: number }) {
  const [own, through] = await Promise.all([connect(ports.own), connect(ports.endpoint)])
  const { text } = await through.ask('tools/list')
  const name = /"name":"([^"]*tool_0(?:_[0-9a-f]{8})?)"/.exec(text)?.[1]
  const times = { own: [] as number[], endpoint: [] as number[] }
  const call = async (client: BenchClient, tool: string | undefined) =>
    (await client.ask('tools/call', { name: tool, arguments: { name: 'a' } })).ms
  for (let turn = 0; turn < CALLS; turn += 1) {
    times.own.push(await call(own, 'tool_0'))
    times.endpoint.push(await call(through, name))
  }
  return { own: median(times.own.slice(CALLS / 4)), endpoint: median(times.endpoint.slice(CALLS / 4)) }
}

async function measureMemory(port: number, pid: number) {
  const before = residentMb(pid).now
  const sessions: { client: BenchClient; names: readonly string[] }[] = []
  for (let count = 0; count < SESSIONS; count += 1) {
    const client = await connect(port)
    const { text } = await client.ask('tools/list')
    const names = [...text.matchAll(/"name":"([^"]*tool_0(?:_[0-9a-f]{8})?)"/g)].map(([, name]) => name ?? '')
    sessions.push({ client, names })
  }
  for (const { client, names } of sessions)
    for (const name of names) await client.ask('tools/call', { name, arguments: { name: 'a' } })
  return { before, called: residentMb(pid).now }
}

const median = (values: readonly number[]): number =>
  Number((values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN).toFixed(3))
