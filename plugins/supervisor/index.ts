import type { App } from '../../src/app.ts'
import type { Supervisor } from '../../src/contracts/workload.ts'
import type { Plugin } from '../../src/plugin.ts'
import { SupervisorCommand } from './commands/supervisor.ts'
import { SupervisorStatusOf } from './commands/supervisor-status.ts'
import { SupervisorStop } from './commands/supervisor-stop.ts'

/** Loads its modules on call, because there are many. */
export const takeSupervisorRole = async (
  app: App,
  options: { signal: AbortSignal; after: Promise<void> },
): Promise<void> => (await import('./supervisor-process.ts')).takeSupervisorRole(app, options)

declare module '../../src/plugin.ts' {
  interface Services {
    supervisor: Supervisor
  }
}

/** The one background process that hosts every proxy of a user. */
const supervisor: Plugin = {
  name: 'supervisor',
  needs: ['state', 'runtimes', 'proxy', 'hidden-files', 'egress'],
  uses: ['egress', 'proxies', 'runtimes', 'workloadStore'],
  wants: ['hiddenFiles', 'secrets'],
  commands: [SupervisorCommand, SupervisorStatusOf, SupervisorStop],
  services: {
    supervisor: async app => (await import('./service.ts')).createSupervisor(app),
  },
}
export default supervisor
