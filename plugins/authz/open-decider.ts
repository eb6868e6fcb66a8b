import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import type { AuthzConfig } from './authz-config.ts'
import type { Decider } from './decider.ts'
import { failures } from './failures.ts'
import { readConfigFile } from './parse-config.ts'
import { MEMBER } from './section.ts'

export interface DeciderContext {
  /** The name of the workload. */
  readonly server: string
  /** Where the configuration is from, for people. */
  readonly where: string
  readonly log: Log
}

/** Opens the decider of a configuration, with only the code that it takes. Fails with `authz_config_invalid`. */
export async function openDecider(config: AuthzConfig, context: DeciderContext): Promise<Decider> {
  if (config.cedar) {
    const { openCedarDecider } = await import('./cedar/cedar-decider.ts')
    return openCedarDecider(config.cedar, context)
  }
  if (config.pdp) {
    const { createPdpDecider } = await import('./pdp/pdp-decider.ts')
    return createPdpDecider(config.pdp, context)
  }
  throw failures.authz_config_invalid({ where: context.where, problem: 'it has no block' })
}

/** The configuration that a run config asks for, and where it is from. */
export async function configOf(config: RunConfig): Promise<{ authz: AuthzConfig; where: string }> {
  const { authz_config: said, authz_config_path: path } = config
  if (path) return { authz: await readConfigFile(path), where: path }
  return { authz: said ?? {}, where: MEMBER }
}
