type Env = Readonly<Record<string, string | undefined>>

/**
 * Returns the HTTP proxy that the environment sets for TLS connections to a host; undefined when none.
 * A name in `NO_PROXY` also stands for its subdomains, and `*` for every host.
 */
export function findProxy(env: Env, host: string): URL | undefined {
  const text = env.https_proxy || env.HTTPS_PROXY
  if (!text) return undefined
  const direct = (env.no_proxy || env.NO_PROXY || '').toLowerCase().split(/[\s,]+/)
  const names = direct.map(name => name.replace(/^\*?\./, '').replace(/:\d+$/, '')).filter(Boolean)
  if (names.some(name => name === '*' || host === name || host.endsWith(`.${name}`))) return undefined
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}
