import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Isolation, IsolationProbe, Runtime, WaitOptions } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { capitalise } from '../../src/lib/capitalise.ts'
import { failures } from './failures.ts'

/** How the network of a workload's instance is set up. */
export type NetworkKind =
  /** A network with one instance. Its only exit is the egress proxy. */
  | 'isolated'
  /** No network at all. */
  | 'none'
  /** The runtime's usual network, or the one the user named: nothing is enforced. */
  | 'open'

/** Modes that mean the runtime's default network, which isolation replaces. */
const BRIDGE_MODES: ReadonlySet<string> = new Set(['', 'bridge', 'default'])

export const isBridgeMode = (mode: string | undefined): boolean => BRIDGE_MODES.has(mode ?? '')

const modeOf = (config: RunConfig): string | undefined => config.permission_profile?.network?.mode

/**
 * Decides how the network of a workload is set up. This is the only place that decides it.
 *
 * Mode `none` is stricter than isolation. Every other mode but the runtime's default excludes it. Otherwise
 * a server is isolated unless `isolate_network` is false.
 */
export function networkKindOf(config: RunConfig): NetworkKind {
  const mode = modeOf(config)
  if (config.remote_url) return 'open'
  if (mode === 'none') return 'none'
  return config.isolate_network !== false && isBridgeMode(mode) ? 'isolated' : 'open'
}

const warnOfMode = (config: RunConfig, warn: (text: string) => void): void =>
  warn(`The network mode "${modeOf(config)}" excludes isolation: nothing is enforced.`)

/**
 * Writes the flag `--isolate-network` into the run config. Fails with `isolation_conflict` when the user
 * asked for isolation together with a network mode that excludes it.
 */
export function applyIsolationFlag(
  config: RunConfig,
  options: { wanted: boolean; isExplicit: boolean; warn: (text: string) => void },
): void {
  const { wanted, isExplicit, warn } = options
  const { remote_url: _, ...local } = config
  const kind = networkKindOf({ ...local, isolate_network: wanted })
  if (wanted && kind === 'open') {
    if (isExplicit) throw failures.isolation_conflict({ mode: modeOf(config) ?? '' })
    warnOfMode(config, warn)
  }
  config.isolate_network = kind === 'isolated'
}

type Obstacle = Extract<IsolationProbe, { ok: false }>

/** For a runtime without isolation. */
const UNKNOWN: Obstacle = {
  ok: false,
  problem: 'it has no means to do so.',
  hint: 'Choose another runtime, or say --isolate-network=false.',
  fallback: true,
}

/** A process without a sandbox shares the host's network. */
const UNWANTED: Obstacle = {
  ok: false,
  problem: 'it runs without a sandbox (--no-sandbox).',
  hint: 'Omit --no-sandbox, or add --isolate-network=false.',
  fallback: true,
}

/** Why a workload cannot be isolated on any host; undefined when its runtime has the means. */
function obstacleOf(config: RunConfig, runtime: Runtime): Obstacle | undefined {
  if (config.no_sandbox) return UNWANTED
  return runtime.isolation ? undefined : UNKNOWN
}

/**
 * Returns what isolates a workload: undefined when it runs without isolation. Fails with
 * `isolation_unsupported` when its runtime cannot isolate it.
 */
export function isolationOf(config: RunConfig, runtime: Runtime): Isolation | undefined {
  if (networkKindOf(config) !== 'isolated') return undefined
  const obstacle = obstacleOf(config, runtime)
  if (obstacle) throw runtimeFailures.isolation_unsupported({ runtime: runtime.name, ...obstacle })
  return runtime.isolation
}

/**
 * Compares what the run config asks for with what the runtime can do, before anything runs. Returns the run
 * config with `isolate_network` as it will be.
 *
 * What the user asked for explicitly (the flag, or a permission profile) and cannot have is refused with
 * `isolation_unsupported`. What is only the default gives way with a warning, where the runtime allows that.
 */
export async function settleIsolation(
  config: RunConfig,
  options: { runtime: Runtime; isExplicit: boolean; warn: (text: string) => void; wait?: WaitOptions },
): Promise<RunConfig> {
  const { runtime, isExplicit, warn, wait = {} } = options
  if (config.isolate_network === false) return config
  const kind = networkKindOf(config)
  if (kind === 'open') warnOfMode(config, warn)
  if (kind !== 'isolated') return { ...config, isolate_network: false }
  const probe = obstacleOf(config, runtime) ?? (await runtime.isolation?.probe()) ?? UNKNOWN
  if (probe.ok) {
    const lacking = (await runtime.isolation?.prefetch?.(wait)) ?? []
    for (const warning of [...probe.warnings, ...lacking]) warn(capitalise(warning))
    return { ...config, isolate_network: true }
  }
  const insists = isExplicit || config.permission_profile_name_or_path !== undefined
  if (insists || !probe.fallback) {
    throw runtimeFailures.isolation_unsupported({ runtime: runtime.name, ...probe })
  }
  warn(`The network of the server is not isolated: ${probe.problem}`)
  return { ...config, isolate_network: false }
}
