import type { PermissionProfile, RunConfig } from '../../src/contracts/run-config.ts'
import type { Resolved } from '../../src/contracts/target.ts'
import { isPortFree } from '../../src/lib/ports.ts'

/**
 * What the target resolved, under what the user asked for. A variable of the user hides the target's of
 * that name only; `--network` changes the profile's network only. A port that the target merely prefers
 * is left alone when something else has it.
 */
export async function mergeResolved(
  resolved: Resolved,
  asked: RunConfig,
  given: ReadonlySet<string>,
): Promise<RunConfig> {
  const { port: preferred = 0, ...rest } = resolved
  const port = asked.port || ((await isFree(preferred, asked.host)) ? preferred : 0)
  const profile = given.has('permission-profile')
    ? asked.permission_profile
    : mergeProfile(resolved.permission_profile, asked.permission_profile)
  return {
    ...rest,
    ...asked,
    port,
    transport: resolved.transport ?? asked.transport,
    env_vars: { ...resolved.env_vars, ...asked.env_vars },
    ...(profile ? { permission_profile: profile } : {}),
  }
}

const isFree = async (port: number, host: string | undefined): Promise<boolean> =>
  port > 0 && isPortFree(port, host)

function mergeProfile(
  resolved: PermissionProfile | undefined,
  asked: PermissionProfile | undefined,
): PermissionProfile | undefined {
  if (!resolved || !asked) return resolved ?? asked
  return { ...resolved, ...asked, network: { ...resolved.network, ...asked.network } }
}
