import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { supervisorPaths } from '../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../plugins/supervisor/find-supervisor.ts'
import { findPaths } from '../src/paths.ts'
import type { Result } from './result.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ROUNDS = Number(process.env.KEELSON_BENCH_ROUNDS ?? 9)
const IMAGE = 'keelson-test/node:24'
const NAME = `bench-run-${process.pid}`

/** A stdio server in one line of Node, which responds to every request with the result of an `initialize`. */
const SERVER = `process.stdin.on('data',d=>String(d).split('\\n').filter(Boolean).forEach(l=>{const m=JSON.parse(l);m.id!==undefined&&console.log(JSON.stringify({jsonrpc:'2.0',id:m.id,result:{protocolVersion:'2025-11-25',capabilities:{},serverInfo:{name:'s',version:'1'}}}))}))`
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})

/** Milliseconds from `docker run` to the response to an `initialize` that was piped into it. */
async function byHand(): Promise<number> {
  const began = performance.now()
  const stdio = ['pipe', 'pipe', 'inherit'] as const
  const child: ChildProcess = spawn('docker', ['run', '--rm', '--interactive', IMAGE, 'node', '-e', SERVER], {
    stdio: [...stdio],
  })
  child.stdin?.write(`${INITIALIZE}\n`)
  await once(child.stdout as NodeJS.EventEmitter, 'data')
  const ms = performance.now() - began
  child.stdin?.end()
  await once(child, 'close')
  return ms
}

/** Milliseconds until `run` has returned, and until the server has then responded to an `initialize`. */
async function byRun(
  env: NodeJS.ProcessEnv,
  flags: readonly string[],
): Promise<{ returned: number; answered: number }> {
  const began = performance.now()
  const where = ['--runtime', 'docker', '--name', NAME, '--transport', 'stdio', ...flags]
  const args = ['run', IMAGE, ...where, '--', 'node', '-e', SERVER]
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [url, words, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  if (code !== 0) throw new Error(`run ended with ${code}: ${words}`)
  const returned = performance.now() - began
  const response = await fetch(url.trim(), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: INITIALIZE,
  })
  if (!(await response.text()).includes('serverInfo')) throw new Error(`${url} did not respond`)
  const answered = performance.now() - began
  spawnSync(process.execPath, [program, 'rm', NAME], { env })
  return { returned, answered }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** `run` of an image that is there, with a supervisor that runs, against `docker run` by hand, in turns. */
export async function run(): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '' }
  const hand: number[] = []
  const plain: { returned: number; answered: number }[] = []
  const isolated: { returned: number; answered: number }[] = []
  try {
    await byRun(env, []) // starts the supervisor
    for (let round = 0; round < ROUNDS; round++) {
      hand.push(await byHand())
      plain.push(await byRun(env, ['--isolate-network=false']))
      isolated.push(await byRun(env, []))
    }
  } finally {
    const pid = (await findSupervisor(supervisorPaths(findPaths(env))))?.info.pid
    if (pid) process.kill(pid, 'SIGTERM')
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
  const one = median(hand)
  const ratio = (runs: typeof plain, until: 'returned' | 'answered') =>
    median(runs.map(run => run[until])) / one
  const figures = {
    'docker run by hand, ms': one,
    'run returned / by hand (at most 1.6)': ratio(plain, 'returned'),
    'run answered / by hand (at most 1.6)': ratio(plain, 'answered'),
    'isolated run returned / by hand (at most 2)': ratio(isolated, 'returned'),
    'isolated run answered / by hand (at most 2)': ratio(isolated, 'answered'),
  }
  return {
    name: 'run of an image',
    conditions: 'the engine of this machine; by hand, plain and isolated take turns',
    measured: ROUNDS,
    figures,
    ok: ratio(plain, 'answered') <= 1.6 && ratio(isolated, 'answered') <= 2,
  }
}
