import type { Plugin } from '../../src/plugin.ts'
import { UpgradeCheckCommand } from './commands/upgrade-check.ts'
import type { Upgrades } from './service.ts'

export type { Upgrades } from './service.ts'
export type {
  ConfigDrift,
  EnvVarDrift,
  UpgradeCheck,
  UpgradeStatus,
  VariableDefinition,
} from './upgrade-check.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    upgrades: Upgrades
  }
}

/** Tells which workloads the registry has something newer for. */
const upgrade: Plugin = {
  name: 'upgrade',
  needs: ['registry', 'workloads'],
  commands: [UpgradeCheckCommand],
  services: {
    async upgrades(app) {
      const [{ createUpgrades }, workloads, store, registry] = await Promise.all([
        import('./service.ts'),
        app.service('workloads'),
        app.service('workloadStore'),
        app.service('registry'),
      ])
      return createUpgrades({ workloads, configs: store.configs, registry, log: app.log })
    },
  },
}
export default upgrade
