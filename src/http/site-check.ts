import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** The part of a request that tells which page sent it. */
export type SiteRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/** Which header shows that a page of another site sent the request. */
export type SiteProblem = 'host' | 'origin' | 'other-site'

export interface SiteRules {
  /** Whether a `Host` names this server. A page that DNS rebound to us sends its own name. */
  isOwnHost(host: string, request: SiteRequest): boolean
  isAllowedOrigin(origin: string, request: SiteRequest): boolean
  /** Whether a request may come although `Sec-Fetch-Site` names another site. */
  isAllowedFromOtherSite(request: SiteRequest): boolean
}

/** Checks `Host`, `Origin` and `Sec-Fetch-Site`, in this order. Undefined: no page of another site sent the request. */
export function findSiteProblem(request: SiteRequest, rules: SiteRules): SiteProblem | undefined {
  const { host, origin } = request.headers
  // HTTP/1.0 clients may send no Host; browsers always do.
  if (host !== undefined && !rules.isOwnHost(host, request)) return 'host'
  if (origin !== undefined && !rules.isAllowedOrigin(origin, request)) return 'origin'
  return isFromOtherSite(request.headers) && !rules.isAllowedFromOtherSite(request) ? 'other-site' : undefined
}

/**
 * Whether a browser says that a page of another site, or of another port, made it send the request (Fetch
 * Metadata, W3C). Images, scripts, frames, links and forms need no `Origin`, but they carry this. Programs do not,
 * nor do browsers over plain HTTP beyond loopback.
 */
function isFromOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Whether the request shows a page of ours in a tab of its own, as a link on another site does. */
export const opensPage = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
