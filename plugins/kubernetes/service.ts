import type { RunConfig } from '../../src/contracts/run-config.ts'
import { type Oci, pinReference } from '../oci/index.ts'
import { failures } from './failures.ts'
import { type ExportedManifests, exportManifests } from './manifests/export-manifests.ts'
import type { ManifestOptions } from './manifests/to-plan.ts'
import { type ExportedResource, exportResource } from './resource/export-resource.ts'

/** Writes workloads as objects of Kubernetes. */
export interface KubernetesExport {
  /**
   * A resource of ToolHive's operator. Where `strict`, fails with `kubernetes_lossy` if it cannot hold a member of the run
   * config.
   */
  resource(config: RunConfig, options: { strict: boolean }): Promise<ExportedResource>
  /**
   * Objects that need no operator. Fails with `kubernetes_member_local` for what a pod would not have, and with
   * `kubernetes_kind_unsupported`.
   */
  manifests(config: RunConfig, options: ManifestOptions): Promise<ExportedManifests>
}

export function createKubernetesExport(oci: () => Promise<Oci>): KubernetesExport {
  /** Images by digest are what they are; the digest of a tag is asked for, which fails where no registry has the image. */
  async function pin(reference: string): Promise<string> {
    if (reference.includes('@')) return reference
    const { descriptor } = await (await oci()).manifest(reference)
    return pinReference(reference, descriptor.digest)
  }

  return {
    async resource(config, { strict }) {
      const resource = await exportResource(config)
      const { kind, lost: members } = resource
      if (strict && members.length) throw failures.kubernetes_lossy({ name: config.name, kind, members })
      return resource
    },
    manifests: (config, options) => exportManifests(config, options, pin),
  }
}
