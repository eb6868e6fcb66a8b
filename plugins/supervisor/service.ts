import type { App } from '../../src/app.ts'
import { BUILD, VERSION } from '../../src/build-info.ts'
import type { Supervisor } from '../../src/contracts/workload.ts'
import { forbidCoreDumps } from '../../src/lib/forbid-core-dumps.ts'
import { redactValues } from '../../src/lib/redact.ts'
import { createLog } from '../../src/log.ts'
import { checkSections } from '../../src/sections.ts'
import { supervisorPaths } from './control-protocol.ts'
import type { CrashJournal } from './crash-journal.ts'
import { digestOf } from './digest-of.ts'
import { createWorkloadHost, type WorkloadHost } from './host/workload-host.ts'
import { type Launch, supervisorCommand } from './launch-supervisor.ts'
import { createLeases } from './leases.ts'
import { createRotatingFile } from './rotating-file.ts'
import { createSupervisorClient } from './supervisor-client.ts'

/** Identifies this build of the program. */
export const OWN_BUILD = `${VERSION}+${BUILD}`

const LOG_BYTES = 10_000_000

/** The supervisor as commands use it. */
export const createSupervisor = (app: App): Supervisor =>
  createSupervisorClient({
    paths: app.paths,
    build: OWN_BUILD,
    launch: () => ownLaunch(app, OWN_BUILD),
    host: () => createAppHost(app),
  })

/** The new supervisor reports `build` as its own. NODE_OPTIONS of the caller are not passed on. */
export function ownLaunch(app: App, build: string): Launch {
  const [program, ...args] = supervisorCommand()
  const { NODE_OPTIONS: _, ...env } = app.env
  return { command: [program, ...args, '--build', build], env }
}

/** A workload host in this process, with the services of the plugins. */
export async function createAppHost(
  app: App,
  { journal }: { journal?: CrashJournal } = {},
): Promise<WorkloadHost> {
  await forbidCoreDumps()
  const [store, runtimes, proxies, egress] = await Promise.all([
    app.service('workloadStore'),
    app.service('runtimes'),
    app.service('proxies'),
    app.service('egress'),
  ])
  const secretValues = new Map<string, readonly string[]>()
  return createWorkloadHost({
    store,
    runtimes,
    proxies,
    egress: egress.createProxy({ log: app.log }),
    leases: createLeases({ folder: supervisorPaths(app.paths).leases }),
    log: app.log,
    checkConfig: config => checkSections(app, config),
    digest: config => digestOf(app, config),
    onChange: () => app.notify('workloadsChanged'),
    onRemoved: config => app.notify('workloadRemoved', config),
    ...(journal ? { journal } : {}),
    logOf(config) {
      const file = createRotatingFile(store.proxyLogPath(config.name), { maxBytes: LOG_BYTES })
      // Stray output of a stdio server ends up here, perhaps with its environment.
      const write = (line: string) => file.write(redactValues(line, secretValues.get(config.name) ?? []))
      return createLog({ write, human: false, debug: config.debug === true || app.debug })
    },
    async findEnv(config) {
      if (!config.env_file_dir) return {}
      const { readEnvFolder } = await import('../../src/env-files.ts')
      return readEnvFolder(config.env_file_dir, app.log)
    },
    async findSecrets({ name, secrets = [] }) {
      const found = secrets.length ? await (await app.service('secrets')).resolve(secrets) : {}
      secretValues.set(name, Object.values(found))
      return found
    },
    async findHidden(config, mounts) {
      if (mounts.length === 0) return []
      // A workload that was run with ignore files does not start without the plugin that reads them.
      const hiddenFiles = config.ignore_config
        ? await app.service('hiddenFiles')
        : await app.find('hiddenFiles')
      return hiddenFiles?.find(config, mounts) ?? []
    },
  })
}
