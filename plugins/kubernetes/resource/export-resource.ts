import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../failures.ts'
import { toObjectName } from '../object-name.ts'
import { headerRefs, type SecretRef, secretObjectName, variableRefs } from '../secret-refs.ts'
import { toMcpRemoteProxy } from './mcp-remote-proxy.ts'
import { toMcpServer } from './mcp-server.ts'

/** A resource of ToolHive's operator. */
export interface ExportedResource {
  readonly kind: 'MCPServer' | 'MCPRemoteProxy'
  /** The resource as YAML. */
  readonly text: string
  /** Members of the run config that it cannot hold, or that the operator does not enforce. */
  readonly lost: readonly string[]
  /** The Secret that has to be in the namespace before the resource. */
  readonly secret?: { readonly name: string; readonly refs: readonly SecretRef[] }
}

/** The resource (`toolhive.stacklok.dev/v1beta1`) of a workload. Fails with `kubernetes_kind_unsupported`. */
export async function exportResource(config: RunConfig): Promise<ExportedResource> {
  const name = toObjectName(config)
  if ('endpoint' in config) {
    throw failures.kubernetes_kind_unsupported({
      name: config.name,
      problem: 'it is an endpoint, not a server',
    })
  }
  const kind = config.remote_url ? 'MCPRemoteProxy' : 'MCPServer'
  const { spec, lost } = kind === 'MCPServer' ? toMcpServer(config, name) : toMcpRemoteProxy(config, name)
  const refs = kind === 'MCPServer' ? variableRefs(config) : headerRefs(config)
  const { toYaml } = await import('../to-yaml.ts')
  return {
    kind,
    text: toYaml([{ apiVersion: 'toolhive.stacklok.dev/v1beta1', kind, metadata: { name }, spec }]),
    lost,
    ...(refs.length ? { secret: { name: secretObjectName(name), refs } } : {}),
  }
}
