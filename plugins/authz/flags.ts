import { resolve } from 'node:path'
import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

const table = {
  'authz-config': flag.file(
    'JSON or YAML file with policies on what callers may do; changes take effect at once',
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** What callers may do. */
export const authzFlags: RunFlags = {
  title: 'Authorization',
  of: ['run'],
  flags: table,
  apply(values: FlagValues<typeof table>, config) {
    const path = values['authz-config']
    if (path !== undefined) config.authz_config_path = resolve(path)
  },
}
