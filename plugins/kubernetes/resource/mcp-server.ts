import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { parseCpus, parseMemory } from '../../../src/lib/resources.ts'
import { secretObjectName, variableRefs } from '../secret-refs.ts'
import { type Carried, carry } from './carry.ts'
import { sessionStorage, sharedMembers } from './shared-members.ts'

/** The spec of an MCPServer, as ToolHive's `export --format k8s` writes it, and the members that it cannot hold. */
export const toMcpServer = (config: RunConfig, objectName: string): { spec: object; lost: string[] } => {
  const { spec, lost } = carry(config, {
    ...sharedMembers,
    image: image => ({ spec: { image } }),
    transport: transport => ({ spec: { transport } }),
    cmd_args: args => ({ spec: { args } }),
    target_port: port => ({ spec: { mcpPort: port } }),
    proxy_mode: (mode, { transport }) => (transport === 'stdio' ? { spec: { proxyMode: mode } } : {}),
    env_vars: toEnv,
    secrets: () => ({
      spec: {
        secrets: variableRefs(config).map(({ key }) => ({
          name: secretObjectName(objectName),
          key,
          targetEnvName: key,
        })),
      },
    }),
    volumes: toVolumes,
    resources: toLimits,
    scaling_config: scaling => ({
      spec: {
        ...(scaling.backend_replicas ? { backendReplicas: scaling.backend_replicas } : {}),
        ...sessionStorage(scaling),
      },
    }),
  })
  // The operator ignores profiles; the reference writes this one, whatever the run config says.
  return { spec: { ...spec, permissionProfile: { type: 'builtin', name: 'none' } }, lost }
}

/** The operator refuses values with line breaks. */
function toEnv(variables: Readonly<Record<string, string>>): Carried {
  const names = Object.keys(variables).sort()
  const isCarried = (name: string) => !/[\r\n]/.test(variables[name] ?? '')
  return {
    spec: { env: names.filter(isCarried).map(name => ({ name, value: variables[name] })) },
    lost: names.filter(name => !isCarried(name)).map(name => `env_vars.${name}`),
  }
}

/** Folders of the node. The operator mounts them into its proxy, not into the server, so they count as lost too. */
function toVolumes(volumes: readonly string[]): Carried {
  const mounts = volumes.map(
    text => /^(?<host>[^:]+):(?<path>[^:]+?)(?::(?<mode>ro|rw))?$/.exec(text)?.groups,
  )
  return {
    spec: {
      volumes: mounts.flatMap((mount, index) =>
        mount
          ? {
              name: `volume-${index}`,
              hostPath: mount.host,
              mountPath: mount.path,
              ...(mount.mode === 'ro' ? { readOnly: true } : {}),
            }
          : [],
      ),
    },
    lost: ['volumes'],
  }
}

/** The operator limits its proxy by them, not the server, so they count as lost too. */
function toLimits({ memory, cpus }: NonNullable<RunConfig['resources']>): Carried {
  const bytes = parseMemory(memory ?? '')
  const cores = parseCpus(cpus ?? '')
  const limits = {
    ...(bytes ? { memory: String(bytes) } : {}),
    ...(cores ? { cpu: `${Math.ceil(cores * 1000)}m` } : {}),
  }
  return { spec: { resources: { limits } }, lost: ['resources'] }
}
