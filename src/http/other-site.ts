import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a browser says that a page of another site, or of another port, made it send the request (Fetch
 * Metadata, W3C). Images, scripts, frames, links and forms need no `Origin`, but they carry this. Programs do not,
 * nor do browsers over plain HTTP beyond loopback.
 */
export function isFromOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Whether it shows a page of ours in a tab of its own, as a link on another site does. */
export const opensPage = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
