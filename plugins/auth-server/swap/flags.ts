import { type FlagOptions, type FlagValues, flag } from '../../../src/cli/flags.ts'
import type { RunFlags } from '../../../src/plugin.ts'
import { FIRST_TOKEN } from './first-token.ts'

const table = {
  'auth-server-upstream-token': flag.boolean(
    'give the server the token that the caller has at the provider: it can then do there what the caller can',
  ),
}

declare module '../../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** Whether the server gets tokens of the provider that people log in at. */
export const upstreamTokenFlags: RunFlags = {
  title: 'Login with the built-in authorization server',
  of: ['run', 'proxy'],
  flags: table,
  apply(values: FlagValues<typeof table>, config) {
    if (values['auth-server-upstream-token']) config.upstream_swap_config = FIRST_TOKEN
  },
}
