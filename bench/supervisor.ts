import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createWorkloadStore } from '../plugins/state/workload-store.ts'
import { supervisorPaths } from '../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../plugins/supervisor/find-supervisor.ts'
import { createSupervisorClient } from '../plugins/supervisor/supervisor-client.ts'
import { SCHEMA_VERSION } from '../src/contracts/run-config.ts'
import { findFreePort } from '../src/lib/ports.ts'
import { createLog } from '../src/log.ts'
import { findPaths } from '../src/paths.ts'
import type { Result } from './result.ts'

const MB = 1024 * 1024
const MOST_MB = 150
const MOST_MB_EACH = 1
const COUNT = 100

/**
 * Memory of a supervisor process with 0, 1 and 100 idle remote workloads.
 *
 * Measured is the built program when there is one, else the sources. The remote address is never
 * asked for anything, since nobody calls.
 */
export async function run(): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: join(home, 'run') }
  const paths = findPaths(env)
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const { configs } = createWorkloadStore({ paths, log })
  const command = [process.execPath, await entry(), 'supervisor', 'run', '--build', 'bench'] as const
  const client = createSupervisorClient({
    paths,
    build: 'bench',
    launch: () => ({ command, env }),
    host: () => Promise.reject(new Error('not here')),
  })
  let pid = 0
  try {
    await client.ensure()
    pid = (await findSupervisor(supervisorPaths(paths)))?.info.pid ?? 0
    const rss: number[] = []
    let started = 0
    for (const count of [0, 1, COUNT]) {
      for (; started < count; started++) {
        const name = `remote-${started}`
        await configs.save({
          schema_version: SCHEMA_VERSION,
          name,
          remote_url: 'http://127.0.0.1:9/mcp',
          transport: 'streamable-http',
          port: await findFreePort(),
        })
        await client.start(name)
      }
      await delay(5000) // what was only needed to start is collected meanwhile
      rss.push(await residentMb(pid))
    }
    const [none = 0, one = 0, many = 0] = rss
    const each = (many - one) / (COUNT - 1)
    return {
      name: 'supervisor',
      conditions: 'the memory of one process; nobody calls the workloads',
      measured: rss.length,
      figures: {
        'RSS without workloads, MB': none,
        'RSS with 1 remote workload, MB': one,
        [`RSS with ${COUNT} remote workloads, MB (at most ${MOST_MB})`]: many,
        [`MB for each more (at most ${MOST_MB_EACH})`]: round(each),
      },
      ok: many <= MOST_MB && each <= MOST_MB_EACH,
    }
  } finally {
    if (pid) process.kill(pid, 'SIGTERM')
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

async function entry(): Promise<string> {
  const built = new URL('../dist/main.js', import.meta.url).pathname
  const isBuilt = await readFile(built).then(
    () => true,
    () => false,
  )
  return isBuilt ? built : new URL('../src/main.ts', import.meta.url).pathname
}

/** proc(5): `VmRSS` of `status`. */
async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return round((Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / MB)
}

const round = (value: number) => Math.round(value * 100) / 100
