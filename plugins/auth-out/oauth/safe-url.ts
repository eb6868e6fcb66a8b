import { isIP } from 'node:net'
import { isLoopback } from '../../../src/net/loopback.ts'
import { publicAddressProblem } from '../../../src/net/public-address-problem.ts'

/** A URL for tokens, codes and people: https, or http on this machine; without user name and fragment. */
export function toSafeUrl(text: string | undefined): URL | undefined {
  const url = URL.parse(text ?? '')
  if (!url || url.username || url.password || url.hash) return undefined
  const isHttps = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
  return isHttps ? url : undefined
}

/** Whether the host is written as a place that is not public. Other names show that only when they are looked up. */
export function isWrittenPrivate({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) ? publicAddressProblem(host) !== undefined : /(?:^|\.)localhost\.?$/i.test(host)
}
