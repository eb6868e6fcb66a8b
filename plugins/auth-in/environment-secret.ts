import type { App } from '../../src/app.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'

const VARIABLES = ['KEELSON_OIDC_CLIENT_SECRET', 'SVC_OIDC_CLIENT_SECRET'] as const

/** The client secret of the environment of a command; undefined without one. */
export const environmentSecret = ({ env }: App): string | undefined =>
  VARIABLES.map(name => env[name]).find(Boolean)

export function warnOfTypedSecret(app: App, options: RunOptions): void {
  if (options['oidc-client-secret'] === undefined) return
  app.log.warn('--oidc-client-secret can be read by everybody on this machine: put it into a file.')
}
