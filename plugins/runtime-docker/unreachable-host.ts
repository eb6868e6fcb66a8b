const UNREACHABLE =
  /no such host|i\/o timeout|connection refused|network is unreachable|TLS handshake timeout|Temporary failure in name resolution|server misbehaving/

/**
 * The registry that an engine could not connect to, by the last line of its output; undefined where something else failed,
 * such as a program in a build that has no network.
 */
export function unreachableHost(output: string): string | undefined {
  const last = output.trimEnd().split('\n').at(-1) ?? ''
  if (!UNREACHABLE.test(last)) return undefined
  return /https?:\/\/([\w.-]+(?::\d+)?)/.exec(last)?.[1] ?? /lookup ([\w.-]+)/.exec(last)?.[1]
}
