import { isKeelsonSecret } from './keelson-secrets.ts'
import { pickVariables } from './pick-variables.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * What any program needs to run: where things are, its language, its trusted certificates and its proxies.
 */
const BASE =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|TE?MP|XDG_\w+|SYSTEMROOT|COMSPEC|PATHEXT|WINDIR|APPDATA|LOCALAPPDATA|USERPROFILE|SSL_CERT_(?:FILE|DIR)|(?:HTTPS?|ALL|NO)_PROXY)$/i

/** What else each package tool understands. Tokens for other places are left out. */
const OF_TOOL = {
  npm: /^NODE_EXTRA_CA_CERTS$/i,
  go: /^(GOROOT|GOPROXY|GOSUMDB|GONOSUMDB|GOPRIVATE|GONOPROXY|GOPATH|GOMODCACHE|GOCACHE|GOENV|NETRC)$/,
} as const

export type PackageTool = keyof typeof OF_TOOL

/** The part of an environment that a tool is given; nothing is passed that is not on its list. */
export function toolEnvironment(env: Env, tool?: PackageTool): Record<string, string> {
  const passes = (name: string) =>
    !isKeelsonSecret(name) && (BASE.test(name) || (tool !== undefined && OF_TOOL[tool].test(name)))
  return pickVariables(env, passes)
}
