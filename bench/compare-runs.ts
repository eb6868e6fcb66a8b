import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { findPrograms } from './found-programs.ts'
import { initialize } from './initialize.ts'
import { openOwnHome } from './own-home.ts'
import type { Result } from './result.ts'
import { IMAGE, NAME, runByHand, SERVER } from './run-image.ts'
import { median, ratios, spread } from './samples.ts'

const ROUNDS = Number(process.env.KEELSON_BENCH_ROUNDS ?? 9)
const ANSWER_MS = 30_000
const REFERENCE = { program: 'thv' }

/** Milliseconds from the reference's `run` to the response of its server to an `initialize`. */
async function byReference(home: string): Promise<number> {
  const port = String(await freePort())
  const env = { ...process.env, HOME: home }
  const began = performance.now()
  const args = ['run', '--name', NAME, '--transport', 'stdio', '--proxy-port', port, IMAGE]
  spawnSync(REFERENCE.program, [...args, '--', 'node', '-e', SERVER], { env, stdio: 'ignore' })
  while (!(await initialize(`http://127.0.0.1:${port}/mcp`).catch(() => false))) {
    if (performance.now() - began > ANSWER_MS) throw new Error('the server of thv did not respond')
    await delay(5)
  }
  const ms = performance.now() - began
  spawnSync(REFERENCE.program, ['rm', NAME], { env })
  return ms
}

/** `run` of an image that is there until its server has responded, beside the reference where it is in the PATH. */
export async function run(): Promise<Result> {
  const { found, missing } = findPrograms([REFERENCE])
  const own = await openOwnHome()
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))

  async function byRun(flags: readonly string[]): Promise<number> {
    const began = performance.now()
    const where = ['--runtime', 'docker', '--name', NAME, '--transport', 'stdio', ...flags]
    const url = await own.run([IMAGE, ...where, '--', 'node', '-e', SERVER])
    if (!(await initialize(url))) throw new Error(`${url} did not respond`)
    const ms = performance.now() - began
    own.command('rm', NAME)
    return ms
  }

  const hand: number[] = []
  const plain: number[] = []
  const isolated: number[] = []
  const reference: number[] = []
  try {
    await byRun([])
    for (let round = 0; round < ROUNDS; round++) {
      hand.push(await runByHand('docker'))
      plain.push(await byRun(['--isolate-network=false']))
      isolated.push(await byRun([]))
      if (found.length) reference.push(await byReference(home))
    }
  } finally {
    await own.close()
    await rm(home, { recursive: true, force: true })
  }
  return {
    name: 'run of an image, beside the reference',
    conditions: 'no core pinned; all take turns; ratios of one round: median (least–most)',
    measured: ROUNDS,
    figures: {
      'ms of docker run by hand': spread(hand, 0),
      'keelson / by hand': spread(ratios(plain, hand)),
      'keelson, isolated / by hand': spread(ratios(isolated, hand)),
      ...(found.length ? { 'thv / by hand (goal: ours are less)': spread(ratios(reference, hand)) } : {}),
      'not found in the PATH': missing,
    },
    ok: found.length === 0 || median(isolated) <= median(reference),
  }
}
