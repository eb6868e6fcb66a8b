import type { ResourceMetadata } from '../../src/contracts/caller-auth.ts'
import { underAskedName } from '../../src/net/loopback-names.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** RFC 9728, sections 2 and 3.1: the path of the resource stands behind the well-known one. */
export function describeResource(options: {
  resourceUrl: string | undefined
  issuers: readonly string[]
  scopes: readonly string[]
}): ResourceMetadata | undefined {
  const { resourceUrl, issuers, scopes } = options
  if (resourceUrl === undefined) return undefined
  const { pathname } = new URL(resourceUrl)
  const path = `${WELL_KNOWN}${pathname === '/' ? '' : pathname}`
  return {
    path,
    resource: resourceUrl,
    urlFor: host => new URL(path, underAskedName(resourceUrl, host)).href,
    describe: host => ({
      resource: underAskedName(resourceUrl, host),
      ...(issuers.length ? { authorization_servers: issuers } : {}),
      bearer_methods_supported: ['header'],
      scopes_supported: scopes.length ? scopes : ['openid'],
    }),
  }
}

/** Whether a path is that of the document, for this or any other path of the resource. */
export const isMetadataPath = (path: string): boolean =>
  path === WELL_KNOWN || path.startsWith(`${WELL_KNOWN}/`)
