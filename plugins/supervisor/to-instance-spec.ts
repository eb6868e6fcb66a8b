import { isIPv4 } from 'node:net'
import { instanceName, type RunConfig } from '../../src/contracts/run-config.ts'
import type { InstanceSpec, Limits, Mount, PortBinding } from '../../src/contracts/runtime.ts'
import { assertVariables } from '../../src/contracts/variables.ts'
import { LABEL } from '../../src/lib/labels.ts'
import { isPublishedPort } from '../../src/lib/published-port.ts'
import { parseCpus, parseMemory } from '../../src/lib/resources.ts'
import { networkKindOf } from '../egress/index.ts'
import { failures } from './failures.ts'

/** Facts of an instance that are not in the run config. */
export interface InstanceFacts {
  /** Port the proxy listens on. */
  readonly proxyPort: number
  /** Whether the runtime gives the instance a network of its own, so that its loopback is not ours. */
  readonly contained: boolean
  /** Port the server listens on; 0 for stdio. */
  readonly targetPort: number
  readonly mounts: readonly Mount[]
  /** Variables found at start only (env files); the run config's `env_vars` win. */
  readonly env: Readonly<Record<string, string>>
  /** Variables whose values are secret; they win over all others. */
  readonly secrets: Readonly<Record<string, string>>
}

/** The network mode a workload asked for; undefined means bridge. */
const networkOf = (config: RunConfig): string | undefined =>
  config.permission_profile?.network?.mode || undefined

/**
 * Builds the instance spec of a workload, without the hidden paths, which are found at each start. Fails with
 * `env_refused` for variables that no server may get.
 *
 * `MCP_HOST` is where the server should listen. A container must listen on all its addresses to be
 * reached through a published port, so there it is 0.0.0.0 and not `target_host`'s default; on the
 * host itself it is loopback. A `target_host` that the user gave always stands.
 */
export function toInstanceSpec(config: RunConfig, facts: InstanceFacts): InstanceSpec {
  const { proxyPort, contained, targetPort, mounts, env, secrets } = facts
  const stdio = config.transport === 'stdio'
  const network = networkOf(config)
  const isolated = networkKindOf(config) === 'isolated'
  const onHostNetwork = contained && network === 'host'
  const port = String(targetPort)
  const wiring: Record<string, string> = stdio
    ? { MCP_TRANSPORT: config.transport }
    : {
        MCP_TRANSPORT: config.transport,
        MCP_PORT: port,
        FASTMCP_PORT: port,
        MCP_HOST: config.target_host || (contained && !onHostNetwork ? '0.0.0.0' : '127.0.0.1'),
      }
  const variables = { ...wiring, ...env, ...config.env_vars, ...secrets }
  assertVariables(variables)
  return {
    name: instanceName(config),
    image: config.image ?? '',
    args: config.cmd_args ?? [],
    env: variables,
    labels: {
      ...config.container_labels,
      [LABEL.managed]: 'true',
      [LABEL.name]: config.name,
      [LABEL.baseName]: config.base_name || config.name,
      [LABEL.transport]: config.transport,
      [LABEL.port]: String(proxyPort),
      [LABEL.isolation]: String(isolated),
    },
    stdio,
    ports: onHostNetwork ? [] : toPorts(config, stdio ? undefined : targetPort),
    mounts,
    network,
    limits: toLimits(config.resources ?? {}),
    // An engine would start it before its network is closed, and would mount links that the server has made in
    // its folders. The supervisor starts it in the right order.
    restart: stdio || isolated || mounts.some(({ readOnly }) => !readOnly) ? 'never' : 'unless-stopped',
    privileged: config.permission_profile?.privileged ?? false,
    explicitProfile: config.permission_profile_name_or_path !== undefined,
    ...(config.no_sandbox ? { noSandbox: true } : {}),
  }
}

/** Ports the user published, and the server's own: on a free host port, since only the proxy uses it. */
function toPorts(config: RunConfig, targetPort: number | undefined): PortBinding[] {
  const ports = (config.publish ?? []).map(parsePublish)
  if (targetPort === undefined) return ports
  const host = config.target_host ?? ''
  const address = isIPv4(host) && host !== '0.0.0.0' ? host : '127.0.0.1'
  return [...ports, { instancePort: targetPort, address }]
}

function parsePublish(text: string): PortBinding {
  if (!isPublishedPort(text)) {
    throw failures.instance_field_wrong({
      field: 'publish',
      value: text,
      wanted: 'HOST:CONTAINER or CONTAINER',
    })
  }
  const [first = 0, second] = text.split(':').map(Number)
  return second === undefined
    ? { instancePort: first, address: '127.0.0.1' }
    : { instancePort: second, address: '127.0.0.1', hostPort: first }
}

function toLimits({ memory, cpus }: { memory?: string; cpus?: string }): Limits {
  return {
    ...(memory === undefined
      ? {}
      : { memory: readField('memory', memory, parseMemory, 'a size such as 512m or 2g') }),
    ...(cpus === undefined
      ? {}
      : { cpus: readField('cpus', cpus, parseCpus, 'a number of cores such as 0.5 or 2') }),
  }
}

function readField(
  name: string,
  value: string,
  parse: (text: string) => number | undefined,
  wanted: string,
): number {
  const found = parse(value)
  if (found === undefined) throw failures.instance_field_wrong({ field: `resources.${name}`, value, wanted })
  return found
}
