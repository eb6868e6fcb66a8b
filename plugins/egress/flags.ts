import { type FlagValues, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'
import { failures } from './failures.ts'
import { isBridgeMode } from './section.ts'

const table = {
  'isolate-network': flag.boolean('let the server reach only what its permission profile allows', true),
  'allow-docker-gateway': flag.boolean(
    'also let an isolated server reach this host through the gateway of the container runtime',
  ),
}

/**
 * The flags of `run` about isolation.
 *
 * A network mode that is not the runtime's default has no room for isolation: asked for explicitly
 * that is an error, by default isolation gives way. Mode `none` is stricter than isolation.
 */
export const egressFlags: RunFlags = {
  title: 'Network isolation',
  of: ['run'],
  flags: table,
  apply(values: FlagValues<typeof table>, config, given, warn) {
    const mode = config.permission_profile?.network?.mode
    const wanted = values['isolate-network']
    const isOpenMode = mode !== undefined && mode !== 'none' && !isBridgeMode(mode)
    if (wanted && isOpenMode && given.has('isolate-network')) {
      throw failures.isolation_conflict({ mode })
    }
    if (wanted && isOpenMode)
      warn(`The network mode "${mode}" leaves no room for isolation: nothing is enforced.`)
    config.isolate_network = wanted && isBridgeMode(mode)
    if (values['allow-docker-gateway']) config.allow_docker_gateway = true
  },
}
