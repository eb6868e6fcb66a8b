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
  needs: ['egress', 'oci', 'proxy'],
  uses: ['oci'],
  services: {
    kubernetesExport: async app =>
      (await import('./service.ts')).createKubernetesExport(() => app.service('oci')),
  },
}
export default kubernetes
