/**
 * Whether a protected resource (RFC 8707) is the server itself or its whole host. On a host that customers share, a
 * token for another path opens what belongs to others, and somebody may be logged in there already.
 */
export function isResourceOf(resource: string, server: string): boolean {
  const [said, own] = [URL.parse(resource), URL.parse(server)]
  if (!said || !own || said.origin !== own.origin) return false
  if (said.search && said.search !== own.search) return false
  const path = withoutSlash(said)
  return path === '' || path === withoutSlash(own)
}

const withoutSlash = ({ pathname }: URL): string => pathname.replace(/\/+$/, '')
