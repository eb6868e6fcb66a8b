import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { DEFAULT_LIMITS, parseCpus, parseMemory } from '../../../src/lib/resources.ts'
import { isLoopback } from '../../../src/net/loopback.ts'
import { policyOf } from '../../egress/index.ts'
import { isSaidStateless } from '../../proxy/index.ts'
import { failures } from '../failures.ts'
import { toObjectName } from '../object-name.ts'
import { headerRefs, variableRefs } from '../secret-refs.ts'
import { membersOfThisMachine, portsOfUrls, toEdgeConfig } from './edge-config.ts'
import { objectName, type Plan, type ServerPlan } from './manifest.ts'

/** What the user decides about the manifests. */
export interface ManifestOptions {
  /** The image of keelson, with a digest or a tag whose digest is looked up. */
  readonly keelsonImage: string
  readonly publicHost?: string | undefined
  readonly gateway?: string | undefined
  /** Paths in the server's container. */
  readonly writable: readonly string[]
}

const DEFAULT_PORT = 8080

/**
 * Decides what the manifests of a workload are. `pin` returns a reference with its digest.
 *
 * Fails with `kubernetes_kind_unsupported`, or with `kubernetes_member_local`.
 */
export async function toPlan(
  config: RunConfig,
  options: ManifestOptions,
  pin: (reference: string) => Promise<string>,
): Promise<Plan> {
  const unsupported = (problem: string) =>
    failures.kubernetes_kind_unsupported({ name: config.name, problem })
  if ('endpoint' in config) throw unsupported('it is an endpoint, not a server')
  const members = membersOfThisMachine(config)
  if (members.length) throw failures.kubernetes_member_local({ name: config.name, members })
  const name = toObjectName(config)
  const { remote_url: url } = config
  if (url && isLoopback(new URL(url).hostname)) throw unsupported(`${url} is on this machine`)
  const server = url ? undefined : await toServerPlan(config, options, pin, unsupported)
  const edgeConfig = toEdgeConfig(config, server && `http://${objectName({ name }, 'server')}:${server.port}`)
  const { remote_url: target, ...others } = edgeConfig
  return {
    name,
    keelsonImage: await pin(options.keelsonImage),
    runConfig: `${JSON.stringify(edgeConfig, null, 2)}\n`,
    stateless: isSaidStateless(config),
    publicHost: options.publicHost,
    gateway: options.gateway,
    edgePorts: portsOfUrls([url ? target : undefined, others]),
    ...(server ? { server } : {}),
    secrets: [
      ...variableRefs(config).map(({ key }) => ({ part: 'server' as const, variable: key, key })),
      ...headerRefs(config).map(({ key, from }) => ({
        part: 'edge' as const,
        variable: `KEELSON_SECRET_${from}`,
        key,
      })),
    ],
  }
}

async function toServerPlan(
  config: RunConfig,
  { writable }: ManifestOptions,
  pin: (reference: string) => Promise<string>,
  unsupported: (problem: string) => Error,
): Promise<ServerPlan> {
  const { image = '', source = '', transport, target_port: port = DEFAULT_PORT, target_host: host } = config
  if (transport === 'stdio') {
    throw unsupported('it speaks stdio, and nothing in a pod would carry that to the edge yet')
  }
  if (/^[a-z]+:\/\//.test(source)) {
    throw unsupported(`its image was built on this machine from ${source}, and no cluster can pull it`)
  }
  const wiring = {
    MCP_TRANSPORT: transport,
    MCP_PORT: `${port}`,
    FASTMCP_PORT: `${port}`,
    MCP_HOST: host || '0.0.0.0',
  }
  return {
    image: await pin(image),
    args: (config.cmd_args ?? []).map(escapeReferences),
    env: { ...wiring, ...config.env_vars },
    port,
    memory: String(parseMemory(config.resources?.memory ?? '') ?? DEFAULT_LIMITS.memory),
    cpu: `${Math.ceil((parseCpus(config.resources?.cpus ?? '') ?? DEFAULT_LIMITS.cpus) * 1000)}m`,
    writable,
    reaches: reachedPorts(config),
  }
}

/** `$(NAME)` is a reference to a variable for the kubelet; `$$` is a dollar sign. */
const escapeReferences = (text: string): string => text.replaceAll('$', '$$$$')

/** The ports that the egress proxy has to reach. It decides about hosts. */
function reachedPorts(config: RunConfig): ServerPlan['reaches'] {
  if (config.permission_profile?.network?.mode === 'none') return undefined
  const { allowAll, limitsHosts, limitsPorts, allowPort } = policyOf(config)
  if (!allowAll && !limitsHosts && !limitsPorts) return undefined
  return !allowAll && limitsPorts ? [...allowPort].sort((a, b) => a - b) : 'any'
}
