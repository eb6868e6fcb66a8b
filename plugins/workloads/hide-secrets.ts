import type { RunConfig } from '../../src/contracts/run-config.ts'
import { maskQuery } from '../../src/lib/mask-query.ts'
import { redact } from '../../src/lib/redact.ts'

const HIDDEN = '[redacted]'
/** How names of variables, options and headers end whose values are secret. */
const SECRET =
  /(?:auth|authorization|cookie|credential|key|pass|passphrase|passwd|password|pat|pwd|secret|token)s?$/i
/** `--api-key=VALUE`, `TOKEN=VALUE`, `X-Api-Key: VALUE` and `--header=X-Api-Key: VALUE`. */
const NAMED = /^((?:--?[\w-]+=)?-{0,2}[\w-]+)(=|: ?)(?=.)/s
const OPTION = /^--?[\w-]+$/

/** A run config as it is shown: without what looks like a secret, by its name or by its shape. */
export function hideSecrets(config: RunConfig): RunConfig {
  const { source, remote_url: url, cmd_args: args, env_vars: variables, header_forward: headers } = config
  const plain = headers?.add_plaintext_headers
  return redact({
    ...config,
    ...(url ? { remote_url: maskQuery(url) } : {}),
    ...(url && source ? { source: maskQuery(source) } : {}),
    ...(args ? { cmd_args: args.map(hideInArgument) } : {}),
    ...(variables ? { env_vars: hideValues(variables, name => SECRET.test(name)) } : {}),
    // Most headers that somebody adds are credentials.
    ...(plain
      ? { header_forward: { ...headers, add_plaintext_headers: hideValues(plain, () => true) } }
      : {}),
  })
}

function hideInArgument(argument: string, index: number, all: readonly string[]): string {
  const before = all[index - 1] ?? ''
  if (OPTION.test(before) && SECRET.test(before) && !argument.startsWith('-')) return HIDDEN
  const [named, name = ''] = NAMED.exec(argument) ?? []
  return named !== undefined && SECRET.test(name) ? `${named}${HIDDEN}` : argument
}

const hideValues = (values: Readonly<Record<string, string>>, isSecret: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isSecret(name) ? HIDDEN : value]))
