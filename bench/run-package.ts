import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
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
const PACKAGE = '@modelcontextprotocol/server-everything'
const NAME = `bench-package-${process.pid}`
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})

/** Milliseconds from the start of the installed program to its response to an `initialize`. */
async function byHand(home: string): Promise<number> {
  const [file = ''] = globSync(`${home}/.cache/keelson/packages/npx/*/node_modules/${PACKAGE}/dist/index.js`)
  const began = performance.now()
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.write(`${INITIALIZE}\n`)
  await once(child.stdout, 'data')
  const ms = performance.now() - began
  child.kill('SIGKILL')
  await once(child, 'close')
  return ms
}

/** Milliseconds until `run` has returned, which is when the server has responded. */
async function byRun(env: NodeJS.ProcessEnv, flags: readonly string[]): Promise<number> {
  const began = performance.now()
  const args = ['run', `npx://${PACKAGE}`, '--runtime', 'process', '--name', NAME, ...flags]
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const [words, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(`run ended with ${code}: ${words}`)
  const ms = performance.now() - began
  spawnSync(process.execPath, [program, 'rm', NAME], { env })
  return ms
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** `run` of a package that is installed, as a process of this host, against starting its program by hand, in turns. */
export async function run(): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const own = Object.entries(process.env).filter(([name]) => !/^(?:XDG|KEELSON)_/.test(name))
  const env = { ...Object.fromEntries(own), HOME: home } // certificates and registries as here
  const hand: number[] = []
  const plain: number[] = []
  const isolated: number[] = []
  try {
    await byRun(env, []) // installs the package and starts the supervisor
    for (let round = 0; round < ROUNDS; round++) {
      hand.push(await byHand(home))
      plain.push(await byRun(env, ['--isolate-network=false']))
      isolated.push(await byRun(env, []))
    }
  } finally {
    const pid = (await findSupervisor(supervisorPaths(findPaths(env))))?.info.pid
    if (pid) process.kill(pid, 'SIGTERM')
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
  const one = median(hand)
  const ratio = median(plain) / one
  return {
    name: 'run of a package',
    conditions: 'as a process of this host; by hand, plain and isolated take turns',
    measured: ROUNDS,
    figures: {
      'program by hand, ms': one,
      'run / by hand (at most 1.5)': ratio,
      'isolated run / by hand': median(isolated) / one,
    },
    ok: ratio <= 1.5,
  }
}
