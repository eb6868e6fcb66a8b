import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type IsolationWorld, isolationWorld } from '../test/e2e/isolation-world.ts'
import { engineProblem } from '../test/support/engine-problem.ts'
import type { Result } from './result.ts'

const MOST_MS = 150
const MOST_MB = 20
const CYCLES = { docker: 40, podman: 20, process: 40 }
const AT_ONCE = 64
const PAIRS = 15
const RUNNING = 10

/**
 * What isolation adds to a workload: time to start, and memory in the supervisor's process and beside
 * the server; on docker, podman and in the sandbox. And whether anything is left after many cycles, four
 * at a time, and after more workloads at once than docker has address pools of its own for.
 */
export async function run(): Promise<Result> {
  const figures: Record<string, number | string> = {}
  let ok = true
  let measured = 0
  for (const place of ['docker', 'podman', 'process'] as const) {
    const problem = place === 'process' ? undefined : engineProblem(place, 'keelson-test/node:24')
    if (problem) {
      figures[place] = `not measured: ${problem}`
      continue
    }
    const world = await isolationWorld(place)
    try {
      const more = await startTimes(world)
      const memory = await memoryEach(world)
      measured++
      figures[`${place}: ms more to start (at most ${MOST_MS})`] = more
      figures[`${place}: MB more in the supervisor, each`] = memory.supervisor
      figures[`${place}: MB of a helper beside the server (PSS)`] = memory.helper
      ok &&= more <= MOST_MS && memory.supervisor + memory.helper <= MOST_MB
      const cycles = CYCLES[place]
      for (let done = 0; done < cycles; done += 4) {
        const names = [0, 1, 2, 3].map(n => `ki-bench-${place}-${n}`)
        await Promise.all(names.map(name => world.run(name, undefined, { transport: 'stdio' })))
        await Promise.all(names.map(name => world.host.remove(name)))
      }
      const left = await world.remains()
      figures[`${place}: left after ${cycles} cycles (none)`] = left.length
      ok &&= left.length === 0
      if (place === 'docker') {
        const began = performance.now()
        const isKept = await manyAtOnce(world, figures)
        ok &&= isKept
        figures[`${place}: s for ${AT_ONCE} workloads to come and go`] = (performance.now() - began) / 1000
      }
    } finally {
      await world.close()
    }
  }
  const conditions = 'the engines of this machine; no core pinned; with and without isolation take turns'
  return { name: 'isolation', conditions, measured, figures, ok }
}

/** Starts them all, and removes them when all run. */
async function manyAtOnce(world: IsolationWorld, figures: Record<string, number | string>): Promise<boolean> {
  const names = Array.from({ length: AT_ONCE }, (_, n) => `ki-many-${n}`)
  const started = await Promise.allSettled(
    names.map(name => world.run(name, undefined, { transport: 'stdio' })),
  )
  await Promise.all(names.map(name => world.host.remove(name)))
  const up = started.filter(({ status }) => status === 'fulfilled').length
  const left = (await world.remains()).length
  figures[`${world.place}: of ${AT_ONCE} at once came up`] = up
  figures[`${world.place}: left after them (none)`] = left
  return up === AT_ONCE && left === 0
}

/** Median difference of pairs, since the machine is slower at times. */
async function startTimes(world: IsolationWorld): Promise<number> {
  const differences: number[] = []
  const name = `ki-bench-${world.place}`
  const time = async (isolated: boolean) => {
    await world.save(name, undefined, { isolate_network: isolated })
    const begin = performance.now()
    await world.host.start(name)
    const ms = performance.now() - begin
    await world.host.remove(name)
    return ms
  }
  for (let pair = 0; pair < PAIRS; pair++) differences.push((await time(true)) - (await time(false)))
  return differences.sort((a, b) => a - b)[Math.floor(PAIRS / 2)] ?? 0
}

async function memoryEach(world: IsolationWorld): Promise<{ supervisor: number; helper: number }> {
  const measure = async (isolate_network: boolean) => {
    global.gc?.()
    const before = process.memoryUsage().rss
    const names = Array.from({ length: RUNNING }, (_, n) => `ki-mem-${world.place}-${n}`)
    for (const name of names) await world.run(name, undefined, { isolate_network })
    await delay(1000)
    global.gc?.()
    const each = (process.memoryUsage().rss - before) / RUNNING / 2 ** 20
    const helper = isolate_network ? await helperMb() : 0
    for (const name of names) await world.host.remove(name)
    return { each, helper }
  }
  await measure(true) // what is loaded once is loaded
  const open = await measure(false)
  const isolated = await measure(true)
  return { supervisor: Math.max(0, isolated.each - open.each), helper: isolated.helper }
}

/** Proportional share (proc(5): `Pss`) of the helper inside a sandbox, on average. */
async function helperMb(): Promise<number> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const shares: number[] = []
  for (const pid of pids) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (!command.includes('--max-old-space-size=24') || !command.includes('/run/keelson')) continue
    if (command.includes('bwrap') || command.includes('execve')) continue
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    const kb = Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0)
    if (kb) shares.push(kb / 1024)
  }
  return shares.length ? shares.reduce((sum, share) => sum + share, 0) / shares.length : 0
}
