import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kind, startOwnSupervisor } from './own-supervisor.ts'
import type { Result } from './result.ts'

const [REMOTES, MOST_WITH_REMOTES_MB] = [100, 110]
const [CONTAINERS, MOST_WITH_100_CONTAINERS_MB] = [20, 200]
/** How long garbage of the start is left to be collected, in milliseconds. */
const REST_MS = 20_000

/** A stdio server that responds to every request, so that it counts as up at once. */
const SERVER = [
  'sh',
  '-c',
  `while read -r line; do id=\${line#*'"id":'}; echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":\${id%%[,\\}]*},\\"result\\":{}}"; done`,
]

const container: Kind = {
  image: 'keelson-test/busybox:1',
  cmd_args: SERVER,
  runtime: 'docker',
  transport: 'stdio',
}

/**
 * Memory of the supervisor and of all processes that it starts, with idle workloads that nobody calls: remote ones, then
 * containers of stdio servers. The containers themselves are not counted. It measures the built program.
 */
export async function run(): Promise<Result> {
  const supervisor = await startOwnSupervisor()

  async function start(kind: Kind, prefix: string, count: number): Promise<number> {
    await Promise.all(Array.from({ length: count }, () => supervisor.add(kind, prefix)))
    await delay(REST_MS)
    return proportionalMb(supervisor.pid)
  }

  const server = createServer(respond).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const remote: Kind = { remote_url: `http://127.0.0.1:${port}/mcp`, transport: 'streamable-http' }
    const none = await start(remote, 'none', 0)
    const many = await start(remote, 'remote', REMOTES)
    await supervisor.clear()
    const before = await start(container, 'first', 1)
    const after = await start(container, 'next', CONTAINERS - 1)
    const each = (after - before) / (CONTAINERS - 1)
    const hundred = after + each * (100 - CONTAINERS)
    return {
      name: 'idle',
      conditions: 'proportional memory of the supervisor and what it starts; nobody calls the workloads',
      measured: 4,
      figures: {
        'MB without workloads': none,
        [`MB with ${REMOTES} remote workloads (at most ${MOST_WITH_REMOTES_MB})`]: many,
        'MB with 1 stdio container, after the remote workloads': before,
        [`MB with ${CONTAINERS} stdio containers`]: after,
        'MB for each of them': each,
        [`MB with 100, reckoned from these (at most ${MOST_WITH_100_CONTAINERS_MB})`]: hundred,
      },
      ok: many <= MOST_WITH_REMOTES_MB && hundred <= MOST_WITH_100_CONTAINERS_MB,
    }
  } finally {
    await supervisor.close()
    server.closeAllConnections()
    server.close()
  }
}

/** A remote server that accepts whatever it is asked. */
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id = null } = JSON.parse((await text(request)) || '{}')
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
}

/** The memory of a process and its descendants: `Pss` of `smaps_rollup` (proc(5)), where shared pages count in parts. */
async function proportionalMb(root: number): Promise<number> {
  const parents = new Map<number, number>()
  for (const entry of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '')
    parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]))
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (parents.has(pid) && isBelow(parents.get(pid) ?? 0))
  let kb = 0
  for (const pid of [...parents.keys()].filter(isBelow)) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    kb += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0)
  }
  return kb / 1024
}
