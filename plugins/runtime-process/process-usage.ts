import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Usage } from '../../src/contracts/runtime.ts'
import { members } from './process-group.ts'

const SAMPLE_MS = 500
/** proc(5): times are in ticks of sysconf(_SC_CLK_TCK), which Linux fixes at 100 for programs. */
const TICKS_PER_SECOND = 100

interface Sample {
  readonly ticks: number
  readonly memoryBytes: number
}

/** What the processes of groups use now. Memory that two of them share counts twice. Linux only, empty elsewhere. */
export async function readUsage(leaders: ReadonlyMap<string, number>): Promise<Map<string, Usage>> {
  const sampleAll = () =>
    Promise.all([...leaders].map(async ([name, leader]) => [name, await sample(leader)] as const))
  const first = new Map(await sampleAll())
  const startedAt = performance.now()
  await delay(SAMPLE_MS)
  const seconds = (performance.now() - startedAt) / 1000
  return new Map(
    (await sampleAll()).flatMap(([name, { ticks, memoryBytes }]) => {
      const spent = Math.max(0, ticks - (first.get(name)?.ticks ?? ticks))
      const cpuPercent = Math.round((spent / TICKS_PER_SECOND / seconds) * 10_000) / 100
      return memoryBytes > 0 ? [[name, { cpuPercent, memoryBytes }]] : []
    }),
  )
}

async function sample(leader: number): Promise<Sample> {
  const samples = await Promise.all(
    (await members(leader)).map(identity => sampleOne(Number.parseInt(identity, 10))),
  )
  return {
    ticks: samples.reduce((sum, one) => sum + one.ticks, 0),
    memoryBytes: samples.reduce((sum, one) => sum + one.memoryBytes, 0),
  }
}

/** proc(5): `utime` and `stime` are fields 14 and 15 of `stat`, counted behind the name in parentheses; `VmRSS` in `status`. */
async function sampleOne(pid: number): Promise<Sample> {
  const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
  const [stat, status] = await Promise.all([read('stat'), read('status')])
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(status) ?? []
  return { ticks: Number(fields[11] ?? 0) + Number(fields[12] ?? 0), memoryBytes: Number(kilobytes) * 1024 }
}
