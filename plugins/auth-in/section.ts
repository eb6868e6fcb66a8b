import type { RunConfig } from '../../src/contracts/run-config.ts'
import { nullable, type ObjectOf, object, optional, text } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { parseAllowed } from './allowed-callers.ts'
import { assertUsable } from './assert-usable.ts'
import { failures } from './failures.ts'
import { type OidcConfig, oidcMembers, readOidcConfig } from './oidc-config.ts'
import { oidcRequest } from './section-request.ts'
import { toCallerAuthConfig } from './to-caller-auth-config.ts'

const members = {
  /** How callers log in. */
  oidc_config: optional(nullable(object(oidcMembers))),
  /** Path of a file with the bearer token for the documents of the issuer. */
  jwks_auth_token_file: optional(text),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

/** How callers of a workload log in; undefined when the run config asks for no provider. Fails as `readOidcConfig`. */
export function oidcOf({ oidc_config, jwks_auth_token_file: file }: RunConfig): OidcConfig | undefined {
  const oidc = readOidcConfig(oidc_config)
  if (!oidc || !file) return oidc
  if (oidc.authTokenFile && oidc.authTokenFile !== file) {
    throw failures.auth_config_invalid({
      problem: 'jwks_auth_token_file and oidc_config.authTokenFile name different files',
    })
  }
  return { ...oidc, authTokenFile: file }
}

/** Checks the members that say how callers log in. */
export const authInSection: Section = {
  members,
  request: oidcRequest,
  middlewareEntries: [
    {
      type: 'auth',
      parameter: 'oidc_config',
      member: 'oidc_config',
      plain: value => readOidcConfig(value) ?? {},
      // ToolHive leaves them out of the entry, and `oidc_config` has them.
      mayLack: ['cacertPath', 'authTokenFile', 'insecureAllowHTTP'],
    },
  ],
  check(config) {
    const oidc = oidcOf(config)
    if (!oidc && config.jwks_auth_token_file) {
      throw failures.auth_config_invalid({
        problem: 'there is a file with a token for the issuer (--jwks-auth-token-file), and no issuer',
        hint: 'Give --oidc-issuer or --oidc-jwks-url.',
      })
    }
    if (!oidc) return
    assertUsable(toCallerAuthConfig(oidc))
    parseAllowed(oidc.allow ?? [])
  },
}
