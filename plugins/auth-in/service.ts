import type { CallerAuth, CallerAuthConfig, ResourceMetadata } from '../../src/contracts/caller-auth.ts'
import { isFailure } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { assertAllowed, parseAllowed } from './allowed-callers.ts'
import { assertUsable } from './assert-usable.ts'
import { readBearer } from './read-bearer.ts'
import { refuse } from './refuse.ts'
import { createTokenChecker } from './token-checker.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const REFUSALS = new Set(['token_missing', 'token_invalid', 'caller_not_allowed', 'auth_unavailable'])

/**
 * Accepts callers by their tokens. Fails with `auth_config_invalid`; the provider is first asked when
 * somebody comes.
 */
export function createCallerAuth(
  config: CallerAuthConfig,
  { log, ...parts }: { log: Log; now?: () => number; timeoutMs?: number },
): CallerAuth {
  assertUsable(config)
  const allowed = parseAllowed(config.allow ?? [])
  warnOfAnybody(config, log)
  const check = createTokenChecker(config, parts)
  const metadata = describeResource(config)
  const about = {
    realm: config.issuer,
    metadataUrl: config.resourceUrl && metadata && new URL(metadata.path, config.resourceUrl).href,
    scopes: config.scopes ?? [],
  }
  return {
    metadata,
    async admit(authorization) {
      try {
        const caller = await check(readBearer(authorization))
        assertAllowed(caller, allowed)
        return { caller }
      } catch (error) {
        if (!isFailure(error) || !REFUSALS.has(error.code)) throw error
        if (error.code === 'auth_unavailable') log.warn(error.message)
        return { refusal: refuse(error, about) }
      }
    },
  }
}

/** RFC 9728, sections 2 and 3.1: the path of the resource stands behind the well-known one. */
function describeResource({ resourceUrl, issuer, scopes }: CallerAuthConfig): ResourceMetadata | undefined {
  if (resourceUrl === undefined) return undefined
  const path = new URL(resourceUrl).pathname
  return {
    path: `${WELL_KNOWN}${path === '/' ? '' : path}`,
    document: {
      resource: resourceUrl,
      ...(issuer ? { authorization_servers: [issuer] } : {}),
      bearer_methods_supported: ['header'],
      scopes_supported: scopes?.length ? scopes : ['openid'],
    },
  }
}

function warnOfAnybody({ issuer }: CallerAuthConfig, log: Log): void {
  if (issuer === undefined)
    log.warn('Tokens of any issuer are taken whose key is known: name it with --oidc-issuer.')
}
