import type { PermissionProfile, RunConfig } from '../../src/contracts/run-config.ts'
import type { Resolved } from '../../src/contracts/target.ts'
import { isPortFree } from '../../src/lib/ports.ts'
import type { Section } from '../../src/plugin.ts'

/**
 * What the target resolved, under what the user asked for. A variable of the user hides the target's of
 * that name only; `--network` changes the profile's network only. A port that the target merely prefers
 * is left alone when something else has it.
 */
export async function mergeResolved(
  resolved: Resolved,
  asked: RunConfig,
  {
    given,
    taken = new Set(),
    sections = [],
  }: {
    given: ReadonlySet<string>
    /** Ports of other workloads, which may be stopped now. */
    taken?: ReadonlySet<number>
    /** Members of plugins that say how theirs are merged. */
    sections?: readonly Section[]
  },
): Promise<RunConfig> {
  const { port: preferred = 0, ...rest } = resolved
  const port = asked.port || (!taken.has(preferred) && (await isFree(preferred, asked.host)) ? preferred : 0)
  const profile = given.has('permission-profile')
    ? asked.permission_profile
    : mergeProfile(resolved.permission_profile, asked.permission_profile)
  const secrets = [...(resolved.secrets ?? []), ...(asked.secrets ?? [])]
  return {
    ...rest,
    ...asked,
    port,
    transport: resolved.transport ?? asked.transport,
    env_vars: { ...resolved.env_vars, ...asked.env_vars },
    ...(profile ? { permission_profile: profile } : {}),
    ...(secrets.length ? { secrets } : {}),
    ...Object.assign({}, ...sections.map(section => section.merge?.(resolved, asked))),
  }
}

const isFree = async (port: number, host: string | undefined): Promise<boolean> =>
  port > 0 && isPortFree(port, host)

/** Without `--permission-profile`, flags can only have named a network: what the target allows stays as narrow. */
function mergeProfile(
  resolved: PermissionProfile | undefined,
  asked: PermissionProfile | undefined,
): PermissionProfile | undefined {
  if (!resolved || !asked) return resolved ?? asked
  const mode = asked.network?.mode
  return mode === undefined ? resolved : { ...resolved, network: { ...resolved.network, mode } }
}
