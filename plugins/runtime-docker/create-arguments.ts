import type { InstanceSpec, Mount, PortBinding } from '../../src/contracts/runtime.ts'
import { LABEL } from '../../src/lib/labels.ts'
import type { Abilities, Dialect } from './dialect.ts'

const GIB = 1024 ** 3

/**
 * What an instance gets when nobody says otherwise: enough for servers that drive a browser or hold
 * a language server, too little to take a laptop down. Left out where the engine has no controller
 * for it; a limit that somebody asked for is always passed on, so that the engine refuses it aloud.
 */
const DEFAULTS = { memory: 2 * GIB, cpus: 2, pids: 512 } as const

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
    `--network=${spec.network ?? 'bridge'}`,
    ...spec.ports.map(port => `--publish=${toPublish(port)}`),
    ...spec.mounts.map(mount => `--mount=${toMount(mount)}`),
    ...Object.entries(labels).map(([key, value]) => `--label=${key}=${value}`),
    ...inherited.map(name => `--env=${name}`),
    ...(envFile ? [`--env-file=${envFile}`] : []),
    ...dialect.createArguments,
    '--',
    spec.image,
    ...spec.args,
  ]
}

function limits(
  { limits: wanted }: InstanceSpec,
  { memory: memoryLimit, cores, pids: pidsLimit }: Abilities,
): string[] {
  const memory = wanted.memory ?? (memoryLimit ? DEFAULTS.memory : undefined)
  // Docker refuses more cores than the machine has.
  const cpus = wanted.cpus ?? (cores === undefined ? undefined : Math.min(DEFAULTS.cpus, cores))
  const pids = wanted.pids ?? (pidsLimit ? DEFAULTS.pids : undefined)
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

/** The value is one line of CSV (RFC 4180): a path may hold commas and quotes. */
function toMount({ source, target, readOnly }: Mount): string {
  const fields = ['type=bind', `source=${source}`, `target=${target}`, ...(readOnly ? ['readonly'] : [])]
  return fields.map(field => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')
}
