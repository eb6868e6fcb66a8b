import { createServer } from 'node:http'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { supervisorPaths } from '../../../plugins/supervisor/control-protocol.ts'
import { createWorkloadHost } from '../../../plugins/supervisor/host/workload-host.ts'
import { createLeases } from '../../../plugins/supervisor/leases.ts'
import { runAsSupervisor } from '../../../plugins/supervisor/supervisor-process.ts'
import { createApp } from '../../../src/app.ts'
import type { Proxies } from '../../../src/contracts/pipeline.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { createFakeRuntime } from '../../support/fake-runtime.ts'

// A supervisor process whose proxies only say the workload's name and who serves it.
// Arguments: what it answers as its build, and how many milliseconds it stays idle.

const [, program = '', build = 'one', idle = '60000'] = process.argv
const paths = findPaths(process.env)
const log = createLog({ write: line => process.stderr.write(line), human: false, debug: true })
const app = createApp({ paths, log, env: process.env, entries: [] })
const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
if (build === 'broken') throw new Error('this build cannot even start')

const proxies: Proxies = {
  find: () => undefined,
  async open({ name, port }) {
    const server = createServer((_, response) => {
      response.end(JSON.stringify({ name, pid: process.pid, build }))
      if (name.startsWith('fused')) throw new Error(`${name} went off`)
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
    return {
      port,
      url: `http://127.0.0.1:${port}`,
      middlewares: [],
      async connect() {
        if (name.startsWith('bomb')) process.nextTick(() => Promise.reject(new Error(`${name} went off`)))
      },
      disconnect: () => undefined,
      checkCandidate: async () => ({ promote: async () => undefined, discard: () => undefined }),
      ready: async () => undefined,
      findProblem: async () => undefined,
      verify: async () => undefined,
      close: () =>
        new Promise(resolve => {
          server.close(() => resolve())
          server.closeAllConnections()
        }),
    }
  },
}

await runAsSupervisor(app, {
  idleMs: Number(idle),
  signal: stop.signal,
  build,
  next: { command: [process.execPath, program, build, idle], env: process.env },
  makeHost: async (_, { journal }) =>
    createWorkloadHost({
      store: createWorkloadStore({ paths, log }),
      runtimes: { get: async () => createFakeRuntime({ programs: {} }) },
      proxies,
      leases: createLeases({ folder: supervisorPaths(paths).leases }),
      journal,
      log,
      logOf: config => log.with({ workload: config.name }),
    }),
})
