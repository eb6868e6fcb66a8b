import type { App } from '../../src/app.ts'
import type { FlagTable, FlagValues } from '../../src/cli/flags.ts'
import type { CallerAuth, CallerAuthConfig } from '../../src/contracts/caller-auth.ts'
import type { Plugin } from '../../src/plugin.ts'
import { oidcFlags, toAuthConfig } from './flags.ts'

/** Makes the check of callers. */
export interface CallerAuths {
  /** Fails with `auth_config_invalid`. */
  create(config: CallerAuthConfig): Promise<CallerAuth>
  /** Returns the authentication that the flags of a command ask for; undefined when no login is required. */
  fromFlags(values: FlagValues<FlagTable>): Promise<CallerAuth | undefined>
}

declare module '../../src/plugin.ts' {
  interface Services {
    callerAuths: CallerAuths
  }
}

/** Authenticates callers by tokens of identity providers that the user trusts (OpenID Connect, OAuth 2). */
const authIn: Plugin = {
  name: 'auth-in',
  services: { callerAuths: makeCallerAuths },
  provides: { flags: [oidcFlags] },
}
export default authIn

/** What checks tokens is loaded when somebody has to log in. */
function makeCallerAuths(app: App): CallerAuths {
  const create = async (config: CallerAuthConfig) =>
    (await import('./service.ts')).createCallerAuth(config, { log: app.log })
  return {
    create,
    async fromFlags(values) {
      const config = await toAuthConfig(app, values)
      return config && create(config)
    },
  }
}
