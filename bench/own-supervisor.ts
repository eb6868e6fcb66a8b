import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createWorkloadStore } from '../plugins/state/workload-store.ts'
import { supervisorPaths } from '../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../plugins/supervisor/find-supervisor.ts'
import { supervisorCommand } from '../plugins/supervisor/launch-supervisor.ts'
import { createSupervisorClient } from '../plugins/supervisor/supervisor-client.ts'
import { type RunConfig, SCHEMA_VERSION } from '../src/contracts/run-config.ts'
import { createLog } from '../src/log.ts'
import { findPaths } from '../src/paths.ts'
import { freePort } from '../test/support/free-port.ts'

/** A workload to measure; its name and its port are chosen when it is added. */
export type Kind = Pick<RunConfig, 'transport'> & Partial<RunConfig>

/** A stdio server in a container: a script that Node runs. */
export const scriptServer = (script: string): Kind => ({
  image: 'keelson-test/node:24',
  cmd_args: ['node', '-e', script],
  runtime: 'docker',
  transport: 'stdio',
})

/** A supervisor of the built program, with the settings of a user who has none, in a home of its own. */
export interface OwnSupervisor {
  readonly pid: number
  /** Starts a workload, and resolves when it runs. */
  add(kind: Kind, prefix: string): Promise<{ readonly name: string; readonly port: number }>
  /** Removes all workloads. */
  clear(): Promise<void>
  /** Removes all workloads, and ends the supervisor. */
  close(): Promise<void>
}

export async function startOwnSupervisor(): Promise<OwnSupervisor> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: join(home, 'run') }
  const paths = findPaths(env)
  const { configs } = createWorkloadStore({ paths, log: silent })
  const client = createSupervisorClient({
    paths,
    build: 'bench',
    launch: () => ({ command: [...builtSupervisor(), '--build', 'bench'], env }),
    host: () => Promise.reject(new Error('not here')),
  })
  await client.ensure()
  const pid = (await findSupervisor(supervisorPaths(paths)))?.info.pid
  if (pid === undefined) throw new Error('the supervisor ended as soon as it had started')
  const names: string[] = []
  let count = 0

  async function clear(): Promise<void> {
    await Promise.all(names.splice(0).map(name => client.remove(name)))
  }

  return {
    pid,
    async add(kind, prefix) {
      count += 1
      const name = `bench-${process.pid}-${prefix}-${count}`
      const port = await freePort()
      await configs.save({ schema_version: SCHEMA_VERSION, name, ...kind, port })
      names.push(name)
      await client.start(name)
      return { name, port }
    },
    clear,
    async close() {
      await clear().catch(() => undefined)
      process.kill(pid, 'SIGTERM')
      await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
    },
  }
}

const silent = createLog({ write: () => undefined, human: false, debug: false })

/** The command of users, with the built program as its entry. */
function builtSupervisor() {
  const built = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const [program, ...args] = supervisorCommand()
  return [program, ...args.map(arg => (arg.endsWith('/main.ts') ? built : arg))] as const
}
