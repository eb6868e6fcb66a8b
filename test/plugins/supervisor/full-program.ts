import { join } from 'node:path'
import { createProxies } from '../../../plugins/proxy/service.ts'
import { createProcessRuntime } from '../../../plugins/runtime-process/process-runtime.ts'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { supervisorPaths } from '../../../plugins/supervisor/control-protocol.ts'
import type { CrashJournal } from '../../../plugins/supervisor/crash-journal.ts'
import { createWorkloadHost } from '../../../plugins/supervisor/host/workload-host.ts'
import { createLeases } from '../../../plugins/supervisor/leases.ts'
import { createSupervisorClient } from '../../../plugins/supervisor/supervisor-client.ts'
import { runAsSupervisor } from '../../../plugins/supervisor/supervisor-process.ts'
import { createApp } from '../../../src/app.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { CALLERS } from '../../support/callers-entries.ts'
import { fixedPackages } from '../runtime-process/fixed-packages.ts'
import { NO_BUBBLEWRAP } from '../runtime-process/host-runtime.ts'

// The supervisor, or with `foreground NAME` a host in the foreground, with real proxies and processes.

const [, program = '', mode = '', name = ''] = process.argv
const paths = findPaths(process.env)
const log = createLog({ write: line => process.stderr.write(line), human: false, debug: true })
const app = createApp({ paths, log, env: process.env, entries: CALLERS })
const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())

const makeHost = async (journal?: CrashJournal) =>
  createWorkloadHost({
    store: createWorkloadStore({ paths, log }),
    runtimes: {
      get: async () =>
        createProcessRuntime({
          folder: join(paths.data, 'processes'),
          sockets: join(paths.data, 'net'),
          packages: fixedPackages(paths.cache),
          bubblewrap: async () => NO_BUBBLEWRAP,
          path: process.env.PATH ?? '',
        }),
    },
    proxies: createProxies(app),
    leases: createLeases({ folder: supervisorPaths(paths).leases }),
    log,
    logOf: config => log.with({ workload: config.name }),
    ...(journal ? { journal } : {}),
  })

if (mode === 'foreground') {
  const client = createSupervisorClient({
    paths,
    build: 'full',
    launch: () => ({ command: ['/nonexistent'], env: {} }),
    host: () => makeHost(),
  })
  await client.foreground(name, { signal: stop.signal, onUp: () => process.stdout.write('up\n') })
  process.stdout.write('over\n')
  process.exit(0)
}
await runAsSupervisor(app, {
  idleMs: 60_000,
  signal: stop.signal,
  build: 'full',
  next: { command: [process.execPath, program], env: process.env },
  makeHost: (_, { journal }) => makeHost(journal),
})
