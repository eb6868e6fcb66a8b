import { resolve } from 'node:path'
import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures } from '../../src/errors.ts'
import type { RunFlags } from '../../src/plugin.ts'
import { readHeaderFlags } from './headers/header-flags.ts'

const table = {
  'remote-auth-bearer-token': flag.string(
    'token for the remote server; others may see it in the list of processes, so a file or KEELSON_REMOTE_AUTH_BEARER_TOKEN is better',
    { placeholder: 'TOKEN' },
  ),
  'remote-auth-bearer-token-file': flag.file('file with the token, which is read again when it changes'),
  'remote-forward-headers': flag.list('header that every request to the remote server gets', 'NAME=VALUE'),
  'remote-forward-headers-secret': flag.list(
    'the same with the value of a secret, which is read at every start',
    'NAME=SECRET',
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** Two flags that say the same in different ways. */
const PAIRS = [['remote-auth-bearer-token', 'remote-auth-bearer-token-file']] as const

/** How a remote server is logged in to; the same for workloads and for the standalone proxy. */
export const remoteAuthFlags: RunFlags = {
  title: 'Remote server',
  of: ['run', 'proxy'],
  flags: table,
  apply(values: FlagValues<typeof table>, config, given) {
    for (const [one, other] of PAIRS) {
      if (given.has(one) && given.has(other)) {
        throw failures.usage({
          text: `--${one} and --${other} do not go together.`,
          hint: 'Give one of them.',
        })
      }
    }
    const token = values['remote-auth-bearer-token']
    const file = values['remote-auth-bearer-token-file']
    if (token !== undefined || file !== undefined) {
      config.remote_auth_config = {
        ...config.remote_auth_config,
        ...(token === undefined ? {} : { bearer_token: token }),
        ...(file === undefined ? {} : { bearer_token_file: resolve(file) }),
      }
    }
    const plain = values['remote-forward-headers']
    const fromSecret = values['remote-forward-headers-secret']
    if (plain.length || fromSecret.length) config.header_forward = readHeaderFlags({ plain, fromSecret })
  },
}
