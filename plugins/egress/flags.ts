import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'
import { applyIsolationFlag } from './network-isolation.ts'

const table = {
  'isolate-network': flag.boolean(
    'restrict what the server can reach to what its permission profile allows',
    {
      fallback: true,
    },
  ),
  'allow-docker-gateway': flag.boolean(
    'also let an isolated server reach this host through the gateway of the container runtime',
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** The flags of `run` about isolation; see `network-isolation.ts` for what they lead to. */
export const egressFlags: RunFlags = {
  title: 'Network isolation',
  of: ['run'],
  flags: table,
  apply(values: FlagValues<typeof table>, config, given, warn) {
    const isExplicit = given.has('isolate-network')
    applyIsolationFlag(config, { wanted: values['isolate-network'], isExplicit, warn })
    if (values['allow-docker-gateway']) config.allow_docker_gateway = true
  },
}
