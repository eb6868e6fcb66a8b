import type { Plugin } from '../../src/plugin.ts'
import type { KubernetesExport } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    kubernetesExport: KubernetesExport
  }
}

/** Workloads for clusters. */
const kubernetes: Plugin = {
  name: 'kubernetes',
  services: { kubernetesExport: async () => (await import('./service.ts')).createKubernetesExport() },
}
export default kubernetes
