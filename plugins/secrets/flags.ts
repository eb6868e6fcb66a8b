import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

const table = {
  secret: flag.list('secret to give to the server as an environment variable', 'NAME,target=VARIABLE'),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** The flag of `run` about secrets. The run config holds references; values are found at every start. */
export const secretFlags: RunFlags = {
  title: 'Secrets',
  of: ['run'],
  flags: table,
  async apply({ secret }: FlagValues<typeof table>, config) {
    if (secret.length === 0) return
    const { parseReferences } = await import('./reference.ts')
    parseReferences(secret)
    config.secrets = [...secret]
  },
}
