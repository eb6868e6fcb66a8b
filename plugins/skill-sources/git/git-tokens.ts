type Env = Readonly<Record<string, string | undefined>>

/** Returns the hosts in a variable, which commas or blanks separate, in lower case. */
export const hostsOf = (text = ''): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  )

/**
 * Returns the token that the user bound to a host (with its port if it has one); undefined when none.
 *
 * `GITHUB_TOKEN` and `GITLAB_TOKEN` are for the hosts of their names. `GIT_TOKEN` is for the hosts in
 * `GIT_TOKEN_HOSTS`, or holds `host=token` pairs itself. Without either it is never sent, because anybody
 * can run a Git host.
 */
export function tokenFor(host: string, env: Env): string | undefined {
  const own = OWN_TOKENS[host]
  if (own && env[own]) return env[own]
  const token = env.GIT_TOKEN ?? ''
  const pairs = pairsOf(token)
  if (pairs) return pairs.get(host)
  return hostsOf(env.GIT_TOKEN_HOSTS).has(host) && token ? token : undefined
}

/** Returns the hint for a host that refuses access. `typed`: whether a token may be sent. */
export function tokenAdvice(host: string, { env, typed }: { env: Env; typed: boolean }): string {
  if (!typed) {
    return 'Tokens are only sent for a reference that you type. If you trust this one, install it by its reference.'
  }
  if (tokenFor(host, env)) return 'Check the name, and what the token for this host may read.'
  const own = OWN_TOKENS[host]
  if (own) return `Check the name. For a private repository set ${own}.`
  return env.GIT_TOKEN
    ? `Check the name. GIT_TOKEN was not sent, since it is not bound to this host: name ${host} in GIT_TOKEN_HOSTS.`
    : `Check the name. For a private repository set GIT_TOKEN, and name ${host} in GIT_TOKEN_HOSTS.`
}

const OWN_TOKENS: Readonly<Record<string, string>> = {
  'github.com': 'GITHUB_TOKEN',
  'gitlab.com': 'GITLAB_TOKEN',
}

/** Matches a name with a dot, `localhost` or an address, then `=` and more than the padding of base64. */
const PAIR = /^((?:[a-z0-9-]+(?:\.[a-z0-9-]+)+|localhost|\[[0-9a-f:.]+\])(?::\d{1,5})?)=(?!=*$)(.+)$/i

/** Returns the `host=token` pairs of a text; undefined when it is a single token. */
function pairsOf(text: string): ReadonlyMap<string, string> | undefined {
  const found = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(piece => PAIR.exec(piece))
  if (found.length === 0 || found.includes(null)) return undefined
  return new Map(found.map(match => [(match?.[1] ?? '').toLowerCase(), match?.[2] ?? '']))
}
