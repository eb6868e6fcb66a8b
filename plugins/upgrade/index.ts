import type { Plugin } from '../../src/plugin.ts'
import { UpgradeApplyCommand } from './commands/upgrade-apply.ts'
import { UpgradeCheckCommand } from './commands/upgrade-check.ts'
import type { Upgrades } from './service.ts'

export type { ApplyOptions, UpgradeResult } from './apply-upgrade.ts'
export type {
  ConfigDrift,
  EnvVarDrift,
  UpgradeCheck,
  UpgradeStatus,
  VariableDefinition,
} from './check-result.ts'
export type { Upgrades } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    upgrades: Upgrades
  }
}

/** Finds newer versions of workloads in the registry, and upgrades workloads to them. */
const upgrade: Plugin = {
  name: 'upgrade',
  needs: ['image-verification', 'registry', 'state', 'workloads'],
  uses: ['registry', 'runtimes', 'supervisor', 'workloads', 'workloadStore'],
  wants: ['groups', 'secrets'],
  commands: [UpgradeCheckCommand, UpgradeApplyCommand],
  routes: async (api, app) => (await import('./routes.ts')).upgradeRoutes(api, app),
  services: {
    async upgrades(app) {
      const [{ createUpgrades }, workloads, store, registry] = await Promise.all([
        import('./service.ts'),
        app.service('workloads'),
        app.service('workloadStore'),
        app.service('registry'),
      ])
      return createUpgrades({ app, workloads, configs: store.configs, registry, log: app.log })
    },
  },
}
export default upgrade
