import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import type { AuthzSource } from './authz-source.ts'
import type { Decider } from './decider.ts'
import { failures } from './failures.ts'
import { readConfigFile } from './parse-config.ts'
import { MEMBER } from './section.ts'

export interface DeciderContext {
  /** The name of the workload. */
  readonly server: string
  readonly log: Log
}

/** Opens the decider of a configuration, with only the code that it takes. Fails with `authz_config_invalid`. */
export async function openDecider(source: AuthzSource, context: DeciderContext): Promise<Decider> {
  const { authz, where } = source
  if (authz.cedar) {
    const { openCedarDecider } = await import('./cedar/cedar-decider.ts')
    return openCedarDecider(authz.cedar, { ...context, source })
  }
  if (authz.pdp) {
    const { createPdpDecider } = await import('./pdp/pdp-decider.ts')
    return createPdpDecider(authz.pdp, context)
  }
  throw failures.authz_config_invalid({ where, problem: 'it has no block' })
}

/** The configuration that a run config asks for, and where it is from. */
export async function configOf(config: RunConfig): Promise<AuthzSource> {
  const { authz_config: said, authz_config_path: path } = config
  if (path) return readConfigFile(path)
  return { authz: said ?? {}, where: MEMBER, locate: () => undefined }
}
