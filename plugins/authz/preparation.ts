import { resolve } from 'node:path'
import type { App } from '../../src/app.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import { failures } from './failures.ts'
import { asksForAuthz } from './section.ts'

/** Checks the policies before anything starts. */
export const authzPreparation = (app: App): Preparation => ({
  async complete(config, { options }) {
    const completed = confirmed(config, options)
    if (asksForAuthz(completed)) {
      const { configOf, openDecider } = await import('./open-decider.ts')
      const source = await configOf(completed)
      const decider = await openDecider(source, { server: completed.name, log: app.log })
      decider.close()
    }
    return completed
  },
})

/**
 * A run config of a file may be a stranger's: which file of this machine counts, and who is told of calls, is for the
 * person to say. Fails with `authz_file_unconfirmed` or `authz_pdp_unconfirmed`.
 */
function confirmed(config: RunConfig, options: RunOptions): RunConfig {
  if (options['from-config'] === undefined) return config
  const { authz_config, authz_config_path: path, ...rest } = config
  const typed = options['authz-config']
  if (typed !== undefined) return { ...rest, authz_config_path: resolve(typed) }
  if (path) throw failures.authz_file_unconfirmed({ path })
  if (authz_config?.pdp) throw failures.authz_pdp_unconfirmed({ url: authz_config.pdp.http.url })
  return config
}
