import { isLoopback } from './loopback.ts'

/** One spelling of all names of loopback, in URLs at plain http: `localhost`, `[::1]` and `127.0.0.1` are the same. */
export function canonicalLoopback(text: string): string {
  const url = URL.parse(text)
  if (!url) return text
  if (url.protocol === 'http:' && isLoopback(url.hostname)) url.hostname = '127.0.0.1'
  return url.href
}

/**
 * Returns a URL of ours as a client knows it that sent `Host: host`: it may call loopback by another name than we do.
 * Every other URL, and every other host, leaves the URL as it is.
 */
export function underAskedName(text: string, host: string | undefined): string {
  const [own, asked] = [URL.parse(text), URL.parse(`http://${host}`)]
  const isSame = own && asked && canonicalLoopback(own.origin) === canonicalLoopback(asked.origin)
  return isSame && text.startsWith(own.origin) ? `${asked.origin}${text.slice(own.origin.length)}` : text
}
