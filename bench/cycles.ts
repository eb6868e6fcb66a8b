import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { supervisorPaths } from '../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../plugins/supervisor/find-supervisor.ts'
import { isPortFree } from '../src/lib/ports.ts'
import { processIdentity } from '../src/lib/process-identity.ts'
import { findPaths } from '../src/paths.ts'
import type { Result } from './result.ts'

const CYCLES = Number(process.env.KEELSON_BENCH_CYCLES ?? 60)
const BASE = 'keelson-test/node:24'
const PREFIX = 'bench-cycle-'

/** What happens in the middle of a cycle; most are left in peace. */
const ACCIDENTS = [
  'none',
  'none',
  'kill the program',
  'none',
  'kill the supervisor',
  'none',
  'kill the container',
] as const

/** A stdio server, or one that listens, in one line of Node: answers every request with an empty result. */
const SERVERS = {
  stdio: `process.stdin.on('data',d=>String(d).split('\\n').filter(Boolean).forEach(l=>{const m=JSON.parse(l);m.id!==undefined&&console.log(JSON.stringify({jsonrpc:'2.0',id:m.id,result:{protocolVersion:'2025-11-25',capabilities:{},serverInfo:{name:'s',version:'1'}}}))}))`,
  'streamable-http': `require('http').createServer((q,s)=>{let b='';q.on('data',d=>b+=d).on('end',()=>{let m={};try{m=JSON.parse(b)}catch{};s.setHeader('content-type','application/json');s.end(JSON.stringify({jsonrpc:'2.0',id:m.id??null,result:{protocolVersion:'2025-11-25',capabilities:{},serverInfo:{name:'s',version:'1'}}}))})}).listen(process.env.MCP_PORT,'0.0.0.0')`,
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})

/**
 * Runs and removes workloads on docker, stdio and HTTP in turn, some of them killed half-way: the
 * program while it runs, the supervisor, or the container. Counts what is left of it all.
 */
export async function run(): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: join(home, 'tmp') }
  spawnSync('mkdir', ['-p', env.TMPDIR])
  const program = entry()
  const start = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const place = supervisorPaths(findPaths(env))
  const supervisors = new Set<number>()
  const ports = new Set<number>()
  const networksBefore = names('network', 'ls', '--format', '{{.Name}}')
  const failures: string[] = []
  const began = performance.now()

  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const name = `${PREFIX}${cycle}`
    const transport = cycle % 2 ? 'streamable-http' : 'stdio'
    const accident = ACCIDENTS[cycle % ACCIDENTS.length] ?? 'none'
    const args = ['run', BASE, '--runtime', 'docker', '--name', name, '--transport', transport]
    const child = start([...args, '--', 'node', '-e', SERVERS[transport]])
    if (accident === 'kill the program') {
      await Promise.race([once(child, 'exit'), delay(100 + ((cycle * 37) % 900))])
      child.kill('SIGKILL')
    }
    const { code, stdout, stderr } = await finished(child)
    if (accident !== 'kill the program' && code !== 0)
      failures.push(`${name}: run ended with ${code}: ${stderr}`)
    const url = stdout.trim()
    if (url) ports.add(Number(new URL(url).port))
    const pid = (await findSupervisor(place))?.info.pid ?? 0
    if (pid) supervisors.add(pid)
    if (accident === 'kill the supervisor' && pid) process.kill(pid, 'SIGKILL')
    if (accident === 'kill the container') spawnSync('docker', ['kill', name])
    if (accident === 'none' && !(await answers(url))) failures.push(`${name}: no answer at ${url}`)

    const removed = await finished(start(['rm', name]))
    if (removed.code !== 0) failures.push(`${name}: rm ended with ${removed.code}: ${removed.stderr}`)
  }
  const seconds = (performance.now() - began) / 1000

  const listed = await finished(start(['list', '--all', '--format', 'json']))
  const last = (await findSupervisor(place))?.info.pid ?? 0
  if (last) {
    supervisors.add(last)
    process.kill(last, 'SIGTERM')
  }
  for (let i = 0; i < 100 && processIdentity(last); i++) await delay(100)
  const portsHeld = (await Promise.all([...ports].map(port => isPortFree(port, '127.0.0.1')))).filter(
    free => !free,
  )
  const left = {
    workloads: (JSON.parse(listed.stdout) as unknown[]).length,
    containers: names('ps', '--all', '--format', '{{.Names}}').filter(name => name.startsWith(PREFIX)).length,
    networks: names('network', 'ls', '--format', '{{.Name}}').filter(name => !networksBefore.includes(name))
      .length,
    processes: processesOf(home),
    ports: portsHeld.length,
    'temporary files': readdirSync(home, { recursive: true })
      .map(String)
      .filter(file => /\.tmp$|^tmp\/.|runconfigs\/.+|statuses\/.+|leases\/.+|\.lock$/.test(file)).length,
  }
  for (const failure of failures.slice(0, 10)) process.stderr.write(`${failure}\n`)
  const total = Object.values(left).reduce((sum, count) => sum + count, 0)
  await rm(home, { recursive: true, force: true })
  return {
    name: `${CYCLES} run/rm cycles on docker`,
    conditions: 'the engine of this machine; no core pinned',
    measured: CYCLES,
    figures: {
      ...Object.fromEntries(Object.entries(left).map(([what, count]) => [`${what} left (0)`, count])),
      'cycles that failed without being killed (0)': failures.length,
      'supervisors, killed ones among them': supervisors.size,
      'seconds for one cycle': seconds / CYCLES,
    },
    ok: total === 0 && failures.length === 0,
  }
}

/** The built program when there is one, else the sources. */
function entry(): string {
  const built = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  return existsSync(built) ? built : fileURLToPath(new URL('../src/main.ts', import.meta.url))
}

async function finished(
  child: ChildProcess,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', chunk => {
    stdout += chunk
  })
  child.stderr?.on('data', chunk => {
    stderr += chunk
  })
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  return { code: child.exitCode, stdout, stderr }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: INITIALIZE,
      signal: AbortSignal.timeout(20_000),
    })
    return response.ok && (await response.text()).includes('serverInfo')
  } catch {
    return false
  }
}

function names(...args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr}`)
  return stdout.split('\n').filter(Boolean)
}

/** Processes with the home folder in their arguments or environment: supervisors, engine clients, servers. */
function processesOf(home: string): number {
  return readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
    try {
      return ['cmdline', 'environ'].some(file => readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(home))
    } catch {
      return false // it ended in between
    }
  }).length
}
