import type { Plugin } from '../../src/plugin.ts'
import { RegistryConvert } from './commands/convert.ts'
import { RegistryInfo } from './commands/info.ts'
import { RegistryList } from './commands/list.ts'
import { RegistryLogin } from './commands/login.ts'
import { RegistryLogout } from './commands/logout.ts'
import { Search } from './commands/search.ts'
import { RegistryVerifyCatalogue } from './commands/verify-catalogue.ts'
import { registryTarget } from './registry-target.ts'
import type { RegistryTokens } from './registry-tokens.ts'
import { registrySection } from './section.ts'
import type { Registry } from './service.ts'

export { loginFlags, permissionTable, readLoginFlags } from './flags.ts'
export { findExtension } from './formats/extension.ts'
export { type ImageServer, isRemote, type RemoteServer, type ServerView } from './formats/legacy.ts'
export type { Provenance } from './formats/server-facts.ts'
export type { ServerJson } from './formats/server-json.ts'
export type { SkillEntry } from './formats/skill-entry.ts'
export { toView } from './formats/to-view.ts'
export type { LoginSubject, RegistryTokens } from './registry-tokens.ts'
export type { Registry, RegistrySummary } from './service.ts'
export { findWantedMounts, toMountLists } from './wanted-mounts.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    registry: Registry
    registryTokens: RegistryTokens
  }
}

/** Finds servers and skills by name, and runs them by it. */
const registry: Plugin = {
  name: 'registry',
  needs: ['egress', 'secrets', 'settings'],
  uses: ['settings'],
  wants: ['imageVerification', 'registryTokens', 'secrets'],
  commands: [
    RegistryList,
    RegistryInfo,
    RegistryConvert,
    RegistryLogin,
    RegistryLogout,
    RegistryVerifyCatalogue,
    Search,
  ],
  routes: async (api, app) => (await import('./routes.ts')).registryRoutes(api, app),
  services: {
    registry: async app => {
      const { createRegistry } = await import('./service.ts')
      return createRegistry({
        paths: app.paths,
        settings: await app.service('settings'),
        log: app.log,
        tokens: () => app.find('registryTokens'),
      })
    },
  },
  provides: { sections: [registrySection], targets: [registryTarget] },
}
export default registry
