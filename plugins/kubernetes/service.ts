import type { RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from './failures.ts'
import { type ExportedResource, exportResource } from './resource/export-resource.ts'

/** Writes workloads as objects of Kubernetes. */
export interface KubernetesExport {
  /**
   * A resource of ToolHive's operator. Where `strict`, fails with `kubernetes_lossy` if it cannot hold a member of the run
   * config.
   */
  resource(config: RunConfig, options: { strict: boolean }): Promise<ExportedResource>
}

export function createKubernetesExport(): KubernetesExport {
  return {
    async resource(config, { strict }) {
      const resource = await exportResource(config)
      const { kind, lost: members } = resource
      if (strict && members.length) throw failures.kubernetes_lossy({ name: config.name, kind, members })
      return resource
    },
  }
}
