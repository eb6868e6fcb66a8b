import type { Supervisor } from '../../src/contracts/workload.ts'
import type { Plugin } from '../../src/plugin.ts'
import { SupervisorCommand } from './commands/supervisor.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    supervisor: Supervisor
  }
}

/** The one background process that hosts every proxy of a user. */
const supervisor: Plugin = {
  name: 'supervisor',
  needs: ['workloads', 'runtimes', 'proxy', 'ignore', 'egress'],
  commands: [SupervisorCommand],
  services: {
    supervisor: async app => (await import('./service.ts')).createSupervisor(app),
  },
}
export default supervisor
