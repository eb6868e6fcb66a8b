import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { INITIALIZE, initialize } from './initialize.ts'
import { openOwnHome } from './own-home.ts'
import type { Result } from './result.ts'
import { median, ratios, spread } from './samples.ts'

const ROUNDS = Number(process.env.KEELSON_BENCH_ROUNDS ?? 9)
const [MOST, MOST_ISOLATED] = [1.6, 2]
export const IMAGE = 'keelson-test/node:24'
export const NAME = `bench-run-${process.pid}`

/** A stdio server in one line of Node, which responds to every request with the result of an `initialize`. */
export const SERVER = `process.stdin.on('data',d=>String(d).split('\\n').filter(Boolean).forEach(l=>{const m=JSON.parse(l);m.id!==undefined&&console.log(JSON.stringify({jsonrpc:'2.0',id:m.id,result:{protocolVersion:'2025-11-25',capabilities:{},serverInfo:{name:'s',version:'1'}}}))}))`

type Engine = 'docker' | 'podman'

/** Milliseconds from `docker run` to the response to an `initialize` that was piped into it. */
export async function runByHand(engine: Engine, flags: readonly string[] = []): Promise<number> {
  const began = performance.now()
  const args = ['run', '--rm', '--interactive', ...flags, IMAGE, 'node', '-e', SERVER]
  const child = spawn(engine, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(`${INITIALIZE}\n`)
  await once(child.stdout, 'data')
  const ms = performance.now() - began
  child.stdin.end()
  await once(child, 'close')
  return ms
}

/** The same in an internal network of its own: what any program has to ask of the engine for an isolated server. */
async function runIsolatedByHand(engine: Engine): Promise<number> {
  const began = performance.now()
  spawnSync(engine, ['network', 'create', '--internal', NAME])
  const created = performance.now() - began
  const ms = await runByHand(engine, [`--network=${NAME}`])
  spawnSync(engine, ['network', 'rm', '--force', NAME])
  return created + ms
}

interface Times {
  readonly returned: number
  readonly answered: number
}

/** `run` of an image that is there against the engine's own, all ways in turns. */
export async function runOf(engine: Engine): Promise<Result> {
  const own = await openOwnHome()

  /** Milliseconds until `run` has returned, and until the server has then responded to an `initialize`. */
  async function byRun(flags: readonly string[]): Promise<Times> {
    const began = performance.now()
    const where = ['--runtime', engine, '--name', NAME, '--transport', 'stdio', ...flags]
    const url = await own.run([IMAGE, ...where, '--', 'node', '-e', SERVER])
    const returned = performance.now() - began
    if (!(await initialize(url))) throw new Error(`${url} did not respond`)
    const answered = performance.now() - began
    own.command('rm', NAME)
    return { returned, answered }
  }

  const hand: number[] = []
  const isolatedHand: number[] = []
  const plain: Times[] = []
  const isolated: Times[] = []
  const first: Times[] = []
  try {
    await byRun([])
    for (let round = 0; round < ROUNDS; round++) {
      hand.push(await runByHand(engine))
      plain.push(await byRun(['--isolate-network=false']))
      isolated.push(await byRun([]))
      isolatedHand.push(await runIsolatedByHand(engine))
      own.command('supervisor', 'stop')
      first.push(await byRun(['--isolate-network=false']))
    }
  } finally {
    await own.close()
  }
  const ratio = (runs: readonly Times[], until: keyof Times) =>
    ratios(
      runs.map(run => run[until]),
      hand,
    )
  return {
    name: `run of an image, ${engine}`,
    conditions:
      'no core pinned; all ways take turns; a ratio is of two ways in one round: median (least–most)',
    measured: ROUNDS,
    figures: {
      [`ms of ${engine} run by hand`]: spread(hand, 0),
      [`run returned / by hand (at most ${MOST})`]: spread(ratio(plain, 'returned')),
      [`run answered / by hand (at most ${MOST})`]: spread(ratio(plain, 'answered')),
      'run answered / by hand, when no supervisor runs': spread(ratio(first, 'answered')),
      [`isolated run returned / by hand (at most ${MOST_ISOLATED})`]: spread(ratio(isolated, 'returned')),
      [`isolated run answered / by hand (at most ${MOST_ISOLATED})`]: spread(ratio(isolated, 'answered')),
      'network create and run by hand / run by hand (bound of the isolated run)': spread(
        ratios(isolatedHand, hand),
      ),
    },
    ok: median(ratio(plain, 'answered')) <= MOST && median(ratio(isolated, 'answered')) <= MOST_ISOLATED,
  }
}

export const run = (): Promise<Result> => runOf('docker')
