import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { findPrograms } from './found-programs.ts'
import { initialize } from './initialize.ts'
import { startOwnSupervisor } from './own-supervisor.ts'
import { cpuMs, residentMb } from './proc.ts'
import type { Result } from './result.ts'

const [REQUESTS, SESSIONS] = [2000, 20]
/** How long a bridge may take to start, and for all calls, in milliseconds. */
const [START_MS, CALLS_MS] = [20_000, 60_000]
const clients = new URL('bridge-clients.ts', import.meta.url).pathname
const IMAGE = 'keelson-test/node:24'

/** A stdio server in one line of Node, with one tool that returns its argument. */
const SERVER = `require('readline').createInterface({input:process.stdin}).on('line',l=>{const{id,method,params}=JSON.parse(l);if(id===undefined)return;const result=method==='tools/call'?{content:[{type:'text',text:String(params.arguments.n)}]}:{protocolVersion:'2025-11-25',capabilities:{tools:{}},serverInfo:{name:'echo',version:'1'}};process.stdout.write(JSON.stringify({jsonrpc:'2.0',id,result})+'\\n')})`

/** The reference, which runs the server in a container as we do, and bridges that start it on this host. */
const OTHERS = [
  {
    program: 'thv',
    args: (port: string) => [
      ...['run', '--foreground', '--name', `bench-${port}`, '--transport', 'stdio', '--proxy-port', port],
      ...[IMAGE, '--', 'node', '-e', SERVER],
    ],
  },
  {
    program: 'supergateway',
    args: (port: string) => [
      ...['--outputTransport', 'streamableHttp', '--stateful', '--logLevel', 'none', '--port', port],
      ...['--stdio', `node -e "${SERVER.replace(/[$"\\`]/g, '\\$&')}"`],
    ],
  },
  {
    program: 'mcp-proxy',
    args: (port: string) => ['--port', port, '--server', 'stream', '--', 'node', '-e', SERVER],
  },
]

type Figures = Record<string, number | string>
type Counts = Readonly<Record<'answered' | 'swapped' | 'seconds', number>>

/** All calls at once, each on a connection of its own, against what listens at the port in the process `pid`. */
async function measure(name: string, pid: number, port: number): Promise<Figures> {
  const before = cpuMs(pid)
  const args = [clients, String(port), String(REQUESTS), String(SESSIONS), 'strict']
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: CALLS_MS,
    killSignal: 'SIGKILL',
  })
  const printed = await text(child.stdout)
  if (!printed) return { [`${name}: answered`]: `not all within ${CALLS_MS / 1000} s` }
  const { answered, swapped, seconds } = JSON.parse(printed) as Counts
  return {
    [`${name}: answered of ${REQUESTS}`]: answered - swapped,
    [`${name}: seconds`]: seconds,
    [`${name}: ms of CPU of the bridge for a call`]: ((cpuMs(pid) - before) / REQUESTS).toFixed(3),
    [`${name}: MB resident of the bridge at most`]: residentMb(pid).most,
  }
}

async function measureOurs(): Promise<Figures> {
  const supervisor = await startOwnSupervisor()
  try {
    const { port } = await supervisor.add(
      { image: IMAGE, cmd_args: ['node', '-e', SERVER], runtime: 'docker', transport: 'stdio' },
      'compare',
    )
    return await measure('keelson', supervisor.pid, port)
  } finally {
    await supervisor.close()
  }
}

async function measureOther({ program, args }: (typeof OTHERS)[number]): Promise<Figures> {
  const port = await freePort()
  const child = spawn(program, args(String(port)), { stdio: 'ignore' })
  const ended = once(child, 'exit')
  try {
    const deadline = Date.now() + START_MS
    while (!(await initialize(`http://127.0.0.1:${port}/mcp`).catch(() => false))) {
      if (Date.now() > deadline) return { [`${program}: answered`]: `not within ${START_MS / 1000} s` }
      await delay(50)
    }
    return await measure(program, child.pid ?? 0, port)
  } finally {
    child.kill('SIGTERM')
    await Promise.race([ended, delay(10_000).then(() => child.kill('SIGKILL'))])
  }
}

/** Our bridge and others, one after another, in front of the same server. */
export async function run(): Promise<Result> {
  const { found, missing } = findPrograms(OTHERS)
  const figures = await measureOurs()
  for (const other of found) Object.assign(figures, await measureOther(other))
  return {
    name: `bridges, ${REQUESTS} calls at once from ${SESSIONS} sessions`,
    conditions: 'bridge, clients and the server in one process each; no core pinned; one after another',
    measured: REQUESTS,
    figures: { ...figures, 'not found in the PATH': missing },
    ok: figures[`keelson: answered of ${REQUESTS}`] === REQUESTS,
  }
}
