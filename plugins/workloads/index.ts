import type { Plugin } from '../../src/plugin.ts'
import { instanceSection } from './instance-section.ts'
import type { Workloads } from './service.ts'
import { imageTarget } from './targets/image.ts'
import { remoteTarget } from './targets/remote.ts'
import { schemeTarget } from './targets/scheme.ts'
import { variablesSection } from './variables-section.ts'

export type { Workloads } from './service.ts'
export { reasonOf, statusColour, statusText } from './status-text.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    workloads: Workloads
  }
}

/** What a user does with workloads. */
const workloads: Plugin = {
  name: 'workloads',
  needs: ['callers', 'egress', 'image-verification', 'proxy', 'recipes', 'runtimes', 'state'],
  uses: ['callerToken', 'egress', 'recipes', 'runtimes', 'supervisor', 'workloadStore'],
  wants: [
    'callerAuths',
    'groups',
    'hiddenFiles',
    'imageVerification',
    'kubernetesExport',
    'registry',
    'secrets',
    'upgrades',
  ],
  routes: async (api, app) => (await import('./routes.ts')).workloadRoutes(api, app),
  services: {
    workloads: async app =>
      (await import('./service.ts')).createWorkloads({ app, store: await app.service('workloadStore') }),
  },
  provides: {
    targets: [schemeTarget, remoteTarget, imageTarget],
    sections: [instanceSection, variablesSection],
  },
}
export default workloads
