import type { Caller, CallerAuth, CallerAuthConfig, LocalIssuer } from '../../src/contracts/caller-auth.ts'
import { isFailure } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { assertAllowed, parseAllowed } from './allowed-callers.ts'
import { assertUsable } from './assert-usable.ts'
import { readBearer } from './read-bearer.ts'
import { refuse } from './refuse.ts'
import { assertScopes, requiredScopes } from './required-scopes.ts'
import { describeResource } from './resource-metadata.ts'
import { createLocalCheck } from './tokens/local-check.ts'
import { type CheckerParts, createTokenChecker, type TokenChecker } from './tokens/token-checker.ts'

const REFUSALS = new Set([
  ...['token_missing', 'token_invalid', 'scope_missing', 'caller_not_allowed', 'auth_unavailable'],
])

interface AuthParts extends CheckerParts {
  readonly log: Log
  /** The URL of what is protected, as callers know it; without it nothing describes the resource. */
  readonly resourceUrl: string | undefined
  /** An authorization server in this process, whose tokens are accepted, too. */
  readonly local?: LocalIssuer | undefined
}

/**
 * Accepts callers by their tokens. Without a `config` only tokens of the local issuer are accepted. Fails with
 * `auth_config_invalid`; the provider is first asked when somebody calls.
 */
export function createCallerAuth(
  config: CallerAuthConfig | undefined,
  { log, local, resourceUrl, ...parts }: AuthParts,
): CallerAuth {
  const { issuer, scopes = [] } = config ?? {}
  const atProvider = config && createProviderCheck(config, { log, ...parts })
  const check = local ? createLocalCheck(local, { ...parts, others: atProvider }) : atProvider
  if (!check) throw new Error('nobody can log in')
  const announced = scopes.length ? scopes : (local?.scopes ?? [])
  const issuers = [local?.issuer, issuer].filter(one => one !== undefined)
  const metadata = describeResource({ resourceUrl, issuers, scopes: announced })
  const about = {
    realm: issuers[0],
    scopes: announced,
  }
  return {
    metadata,
    async admit(authorization, host) {
      try {
        const token = readBearer(authorization)
        return { caller: await check(token), token }
      } catch (error) {
        if (!isFailure(error) || !REFUSALS.has(error.code)) throw error
        if (error.code === 'auth_unavailable') log.warn(error.message)
        return { refusal: refuse(error, { ...about, metadataUrl: metadata?.urlFor(host) }) }
      }
    },
  }
}

/** Checks tokens of the provider, and whether their callers may call. */
function createProviderCheck(
  config: CallerAuthConfig,
  { log, ...parts }: { log: Log } & CheckerParts,
): TokenChecker {
  assertUsable(config)
  const allowed = parseAllowed(config.allow ?? [])
  const required = requiredScopes(config.scopes ?? [])
  if (config.issuer === undefined) {
    log.warn('Tokens of any issuer are accepted whose key is known: name it with --oidc-issuer.')
  }
  const check = createTokenChecker(config, parts)
  return async (token): Promise<Caller> => {
    const caller = await check(token)
    assertAllowed(caller, allowed)
    assertScopes(caller, required)
    return caller
  }
}
