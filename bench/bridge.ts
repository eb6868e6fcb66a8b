import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { scriptServer, startOwnSupervisor } from './own-supervisor.ts'
import { cpuMs, residentMb } from './proc.ts'
import type { Result } from './result.ts'

const [REQUESTS, SESSIONS] = [10_000, 100]
const [MOST_CPU_MS, MOST_MB, MOST_MB_LATER] = [0.15, 250, 120]
/** How long after the flood the memory is measured, in milliseconds. */
const REST_MS = 60_000
const here = (file: string) => new URL(file, import.meta.url).pathname

/** A stdio server in one line of Node, which holds every response until it has all requests, and then responds in reverse order. */
const SERVER = `const held=[];require('readline').createInterface({input:process.stdin}).on('line',l=>{const{id,method,params}=JSON.parse(l);if(id===undefined)return;const result=method==='tools/call'?{content:[{type:'text',text:String(params.arguments.n)}]}:{protocolVersion:'2025-11-25',capabilities:{},serverInfo:{name:'holds',version:'1'}};const text=JSON.stringify({jsonrpc:'2.0',id,result})+'\\n';if(method!=='tools/call')return process.stdout.write(text);held.push(text);if(held.length<${REQUESTS})return;process.stdout.write(held.reverse().join(''));held.length=0})`

/** Sends all requests at once, and returns what came of them with the CPU time of the process for each. */
async function flood(pid: number, port: number): Promise<Counts & { cpu: number }> {
  const began = cpuMs(pid)
  const args = [here('bridge-clients.ts'), String(port), String(REQUESTS), String(SESSIONS)]
  const clients = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const counts = (await json(clients.stdout)) as Counts
  return { ...counts, cpu: (cpuMs(pid) - began) / REQUESTS }
}

/** The CPU time of a program that does nothing but what every bridge has to, for each request. */
async function floodBare(): Promise<number> {
  const args = [here('bare-bridge.ts'), process.execPath, '-e', SERVER]
  const bridge = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [port] = await once(bridge.stdout, 'data')
    return (await flood(bridge.pid ?? 0, Number(port))).cpu
  } finally {
    bridge.kill()
  }
}

/**
 * 10,000 requests in flight to one stdio server in a container, from 100 sessions that all use id 1, through a
 * supervisor of the built program. All of them are in flight at once, because the server holds the responses. Each has a
 * connection of its own, whose owner the supervisor finds out.
 */
export async function run(): Promise<Result> {
  const supervisor = await startOwnSupervisor()
  const { pid } = supervisor
  try {
    const { port } = await supervisor.add(scriptServer(SERVER), 'bridge')
    const bare = await floodBare()
    const before = residentMb(pid).now
    const { cpu, answered, lost, swapped, busy, errors, seconds } = await flood(pid, port)
    const { most } = residentMb(pid)
    await delay(REST_MS)
    const { now: later } = residentMb(pid)
    return {
      name: 'bridge',
      conditions: 'the built program; supervisor, clients and the server in one process each; no core pinned',
      measured: answered,
      figures: {
        'requests in flight at once': REQUESTS,
        'sessions, all with request id 1': SESSIONS,
        answered,
        'lost (bound: 0)': lost,
        'swapped (bound: 0)': swapped,
        'errors other than 503 (bound: 0)': errors,
        'explicit 503': busy,
        'seconds until all were answered': seconds,
        [`ms of CPU for a call, with its connection (goal: ${MOST_CPU_MS})`]: cpu.toFixed(3),
        'ms of CPU for a call of a bare listener and pipe (bound)': bare.toFixed(3),
        'MB resident before': before,
        [`MB resident at most (goal: ${MOST_MB})`]: most,
        [`MB resident a minute later (goal: ${MOST_MB_LATER})`]: later,
      },
      ok:
        lost + swapped + errors === 0 &&
        answered + busy === REQUESTS &&
        cpu <= MOST_CPU_MS &&
        most <= MOST_MB &&
        later <= MOST_MB_LATER,
    }
  } finally {
    await supervisor.close()
  }
}

interface Counts {
  readonly answered: number
  readonly lost: number
  readonly swapped: number
  readonly busy: number
  readonly errors: number
  readonly seconds: number
}
