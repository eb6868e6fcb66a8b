import type { Plugin } from '../../src/plugin.ts'
import type {} from '../callers/index.ts'
import { clientUrl, effectiveMode } from '../proxy/index.ts'
import { ClientListRegistered } from './commands/client-list-registered.ts'
import { ClientRegister } from './commands/client-register.ts'
import { ClientRemove } from './commands/client-remove.ts'
import { ClientSetup } from './commands/client-setup.ts'
import { ClientStatusCommand } from './commands/client-status.ts'
import { followChanges } from './follow-changes.ts'
import type { Clients } from './service.ts'

export type { ClientSpec, Place } from './known-clients.ts'
export { CLIENTS } from './known-clients.ts'
export { isInstalled, locate, type Surroundings } from './locate-client.ts'
export type { ClientStatus, Clients, Registration } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    clients: Clients
  }
}

/** Writes running workloads into the configuration of the applications that use them. */
const clients: Plugin = {
  name: 'clients',
  needs: ['callers', 'proxy'],
  uses: ['callerToken', 'groups', 'workloads', 'workloadStore'],
  commands: [ClientStatusCommand, ClientSetup, ClientRegister, ClientRemove, ClientListRegistered],
  routes: async (api, app) => (await import('./routes.ts')).clientRoutes(api, app),
  services: {
    async clients(app) {
      const [{ createClients }, { presenceOf }] = await Promise.all([
        import('./service.ts'),
        import('./presence-of.ts'),
      ])
      return createClients({
        state: app.paths.state,
        surroundings: { home: app.paths.home, env: app.env, platform: process.platform },
        running: [process.execPath, process.argv[1] ?? ''],
        log: app.log,
        groups: () => app.service('groups'),
        token: async () => (await app.service('callerToken')).required(),
        async workloads() {
          // From disk: the list of the service may start a supervisor, and this runs inside of one.
          const store = await app.service('workloadStore')
          const [configs, records, sections] = await Promise.all([
            store.configs.list(),
            store.statuses.list(),
            app.contributions('sections'),
          ])
          return configs.map(config => ({
            name: config.name,
            url: clientUrl(config),
            proxy_mode: effectiveMode(config),
            ...(config.group ? { group: config.group } : {}),
            presence: presenceOf(records.get(config.name)),
            standsFor: sections.flatMap(section => section.standsFor?.(config, configs) ?? []),
          }))
        },
      })
    },
  },
  provides: { hooks: [followChanges] },
}
export default clients
