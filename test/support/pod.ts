import { docker } from './keelson-image.ts'

interface Container {
  readonly name: string
  readonly image: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[]
  readonly resources: { readonly limits: { readonly cpu: string; readonly memory: string } }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly lifecycle: { readonly preStop: { readonly exec?: { readonly command: readonly string[] } } }
}

/** A Deployment as it was read from its manifest. */
export interface DeploymentManifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly template: { readonly spec: PodSpec } }
}

interface PodSpec {
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number }
  readonly containers: readonly [Container]
}

/** `512Mi` or bytes, as docker takes it. */
const toMemory = (quantity: string) => quantity.replace(/Mi$/, 'm')
const toCores = (quantity: string) =>
  String(quantity.endsWith('m') ? Number.parseInt(quantity, 10) / 1000 : quantity)
/** What the kubelet does with values and arguments. */
const expand = (text: string) => text.replaceAll('$$', '$')

/**
 * Runs the container of a Deployment on docker with what its manifest says: user, limits, environment, arguments and
 * read-only root. The first network gives it its Service's name. Returns its address there.
 */
export function runPod(
  deployment: DeploymentManifest,
  options: {
    readonly prefix: string
    readonly networks: readonly string[]
    /** The images of this machine that the digests stand for. */
    readonly imageOf: (reference: string) => string
    readonly configFolder: string
    readonly mounts?: readonly string[]
  },
): { readonly name: string; readonly address: string; readonly preStop: readonly string[] | undefined } {
  const { name: service } = deployment.metadata
  const { securityContext, containers } = deployment.spec.template.spec
  const [container] = containers
  const name = `${options.prefix}-${container.name}`
  const [network = '', ...others] = options.networks
  const writable = container.volumeMounts.filter(({ name: volume }) => volume.startsWith('writable'))
  docker(
    ...['create', '--name', name, '--network', network, '--network-alias', service],
    ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--user', `${securityContext.runAsUser}:${securityContext.runAsGroup}`],
    ...['--memory', toMemory(container.resources.limits.memory)],
    ...['--cpus', toCores(container.resources.limits.cpu)],
    ...writable.flatMap(({ mountPath }) => ['--tmpfs', `${mountPath}:uid=${securityContext.runAsUser}`]),
    ...(container.volumeMounts.length > writable.length
      ? ['--volume', `${options.configFolder}:/etc/keelson:ro`]
      : []),
    ...(options.mounts ?? []).flatMap(mount => ['--volume', mount]),
    ...container.env.flatMap(({ name: variable, value }) =>
      value === undefined ? [] : ['--env', `${variable}=${expand(value)}`],
    ),
    options.imageOf(container.image),
    ...container.args.map(expand),
  )
  for (const other of others) docker('network', 'connect', '--alias', service, other, name)
  docker('start', name)
  const address = docker(
    'inspect',
    '--format',
    `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`,
    name,
  )
  return { name, address, preStop: container.lifecycle.preStop.exec?.command }
}
