import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { IsolationProbe, Runtime, WaitOptions } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'

/** Modes of the network that isolation replaces. */
export const BRIDGE: ReadonlySet<string | undefined> = new Set([undefined, '', 'bridge', 'default'])

/** A runtime that knows nothing of isolation: nobody who insists on it gets there. */
const UNKNOWN: IsolationProbe = {
  ok: false,
  problem: 'it has no means to do so.',
  hint: 'Choose another runtime, or say --isolate-network=false.',
  fallback: true,
}

/** A process without a sandbox shares the host's network. */
const UNWANTED: IsolationProbe = {
  ok: false,
  problem: 'it runs without a sandbox (--no-sandbox).',
  hint: 'Omit --no-sandbox, or add --isolate-network=false.',
  fallback: true,
}

/**
 * Compares the wish for isolation with what profile and runtime leave room for, before anything runs.
 *
 * What the user insisted on (the flag, or a permission profile of their own) and cannot have is
 * refused; what is only the default gives way with a warning, where the runtime lets it.
 */
export async function settleIsolation(
  config: RunConfig,
  {
    runtime,
    isExplicit,
    warn,
    wait = {},
  }: { runtime: Runtime; isExplicit: boolean; warn: (text: string) => void; wait?: WaitOptions },
): Promise<RunConfig> {
  const mode = config.permission_profile?.network?.mode
  if (config.isolate_network === false) return config
  if (!BRIDGE.has(mode)) {
    if (mode !== 'none') warn(`The network mode "${mode}" leaves no room for isolation: nothing is enforced.`)
    return { ...config, isolate_network: false }
  }
  const probe = config.no_sandbox ? UNWANTED : ((await runtime.isolation?.probe()) ?? UNKNOWN)
  if (probe.ok) {
    const lacking = (await runtime.isolation?.prefetch?.(wait)) ?? []
    for (const warning of [...probe.warnings, ...lacking]) warn(capital(warning))
    return { ...config, isolate_network: true }
  }
  const insists = isExplicit || config.permission_profile_name_or_path !== undefined
  if (insists || !probe.fallback)
    throw runtimeFailures.isolation_unsupported({ runtime: runtime.name, ...probe })
  warn(`The network of the server is not isolated: ${probe.problem}`)
  return { ...config, isolate_network: false }
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
