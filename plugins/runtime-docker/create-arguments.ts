import type { HiddenPath, InstanceSpec, Mount, PortBinding } from '../../src/contracts/runtime.ts'
import { LABEL } from '../../src/lib/labels.ts'
import { DEFAULT_LIMITS } from '../../src/lib/resources.ts'
import type { Abilities, Dialect } from './dialect.ts'
import { isolatedNetworkArguments } from './isolation/isolated-networks.ts'

/** Arguments of `create`. Holds names of environment variables, never their values. */
export function createArguments(
  spec: InstanceSpec,
  options: {
    dialect: Dialect
    abilities: Abilities
    owner: string
    inherited: readonly string[]
    envFile: string | undefined
    init: boolean
  },
): string[] {
  const { dialect, abilities, owner, inherited, envFile, init } = options
  const labels = {
    ...spec.labels,
    [LABEL.managed]: 'true',
    [LABEL.name]: spec.labels[LABEL.name] ?? spec.name,
    [LABEL.owner]: owner,
  }
  return [
    'create',
    `--name=${spec.name}`,
    '--pull=never',
    ...(spec.stdio ? ['--interactive'] : []),
    ...(init ? ['--init'] : []),
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    // Bind mounts are unreadable under SELinux otherwise; relabelling the user's files is worse.
    '--security-opt=label=disable',
    ...(spec.privileged ? ['--privileged'] : []),
    ...limits(spec, abilities),
    ...abilities.logOptions.map(option => `--log-opt=${option}`),
    `--restart=${spec.restart === 'never' ? 'no' : spec.restart}`,
    ...(spec.isolatedNetwork
      ? isolatedNetworkArguments(dialect, owner, spec.name, spec.isolatedNetwork)
      : [`--network=${spec.network ?? 'bridge'}`, ...spec.ports.map(port => `--publish=${toPublish(port)}`)]),
    ...spec.mounts.map(mount => `--mount=${toMount(mount)}`),
    ...(spec.hidden ?? []).map(path => `--mount=${toCover(path, dialect)}`),
    ...Object.entries(labels).map(([key, value]) => `--label=${key}=${value}`),
    ...inherited.map(name => `--env=${name}`),
    ...(envFile ? [`--env-file=${envFile}`] : []),
    ...dialect.createArguments,
    '--',
    spec.image,
    ...spec.args,
  ]
}

/** Leaves out defaults that the engine has no controller for. A limit that the user asked for makes the engine fail. */
function limits(
  { limits: wanted }: InstanceSpec,
  { memory: memoryLimit, cores, pids: pidsLimit }: Abilities,
): string[] {
  const memory = wanted.memory ?? (memoryLimit ? DEFAULT_LIMITS.memory : undefined)
  // Docker refuses more cores than the machine has.
  const cpus = wanted.cpus ?? (cores === undefined ? undefined : Math.min(DEFAULT_LIMITS.cpus, cores))
  const pids = wanted.pids ?? (pidsLimit ? DEFAULT_LIMITS.pids : undefined)
  return [
    // Without the second the same amount again may go to swap.
    ...(memory === undefined ? [] : [`--memory=${memory}`, `--memory-swap=${memory}`]),
    ...(cpus === undefined ? [] : [`--cpus=${cpus}`]),
    ...(pids === undefined ? [] : [`--pids-limit=${pids}`]),
  ]
}

function toPublish({ address, hostPort, instancePort }: PortBinding): string {
  const host = address.includes(':') && !address.startsWith('[') ? `[${address}]` : address
  return `${host}:${hostPort ?? ''}:${instancePort}/tcp`
}

const toMount = ({ source, target, readOnly }: Mount): string =>
  toCsv(['type=bind', `source=${source}`, `target=${target}`, ...(readOnly ? ['readonly'] : [])])

/** Engines mount deeper paths later, so this mount covers the path in the folder mounted before. */
const toCover = ({ target, directory }: HiddenPath, dialect: Dialect): string =>
  directory
    ? toCsv(['type=tmpfs', `target=${target}`, ...dialect.coverOptions])
    : toCsv(['type=bind', 'source=/dev/null', `target=${target}`, 'readonly'])

/** One line of CSV (RFC 4180): a path may hold commas and quotes. */
const toCsv = (fields: readonly string[]): string =>
  fields.map(field => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')
