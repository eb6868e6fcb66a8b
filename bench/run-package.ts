import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { INITIALIZE } from './initialize.ts'
import { openOwnHome } from './own-home.ts'
import type { Result } from './result.ts'
import { median, ratios, spread } from './samples.ts'

const ROUNDS = Number(process.env.KEELSON_BENCH_ROUNDS ?? 9)
const MOST = 1.5
const PACKAGE = '@modelcontextprotocol/server-everything'
const NAME = `bench-package-${process.pid}`

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

/** Milliseconds of an empty program: a sandboxed run starts Node three times, and the server by hand once. */
async function emptyNode(): Promise<number> {
  const began = performance.now()
  await once(spawn(process.execPath, ['-e', '0']), 'close')
  return performance.now() - began
}

/** `run` of a package that is installed, as a process of this host, against starting its program by hand, in turns. */
export async function run(): Promise<Result> {
  const own = await openOwnHome()

  /** Milliseconds until `run` has returned, which is when the server has responded. */
  async function byRun(flags: readonly string[]): Promise<number> {
    const began = performance.now()
    await own.run([`npx://${PACKAGE}`, '--runtime', 'process', '--name', NAME, ...flags])
    const ms = performance.now() - began
    own.command('rm', NAME)
    return ms
  }

  const hand: number[] = []
  const empty: number[] = []
  const plain: number[] = []
  const isolated: number[] = []
  const first: number[] = []
  try {
    await byRun([]) // installs the package and starts the supervisor
    for (let round = 0; round < ROUNDS; round++) {
      hand.push(await byHand(own.home))
      empty.push(await emptyNode())
      plain.push(await byRun(['--isolate-network=false']))
      isolated.push(await byRun([]))
      own.command('supervisor', 'stop')
      first.push(await byRun(['--isolate-network=false']))
    }
  } finally {
    await own.close()
  }
  const bound = hand.map((ms, round) => ms + 2 * (empty[round] ?? 0))
  return {
    name: 'run of a package',
    conditions: 'as a process of this host; no core pinned; all ways take turns: median (least–most)',
    measured: ROUNDS,
    figures: {
      'ms of the program by hand': spread(hand, 0),
      [`run / by hand (at most ${MOST})`]: spread(ratios(plain, hand)),
      'program by hand and two empty nodes / by hand (bound)': spread(ratios(bound, hand)),
      'run / by hand, when no supervisor runs': spread(ratios(first, hand)),
      'isolated run / by hand': spread(ratios(isolated, hand)),
    },
    ok: median(ratios(plain, hand)) <= MOST,
  }
}
