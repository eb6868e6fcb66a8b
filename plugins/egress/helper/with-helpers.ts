import type { Helper } from '../../../src/contracts/runtime.ts'
import type { EgressProxy, EgressProxyOptions } from '../proxy/egress-proxy.ts'
import { loadHelperProgram } from './bundle.ts'
import { createRemoteDoors, type RemoteDoors } from './remote-doors.ts'

/** The same proxy, which also opens doors in helpers: `via` says in which. */
export function withHelpers(
  proxy: EgressProxy,
  options: Pick<EgressProxyOptions, 'log' | 'onDecision'> & {
    readonly ownAddresses: () => ReadonlySet<string>
    /** What runs in a helper. */
    readonly program?: () => Promise<string>
  },
): EgressProxy {
  const { log, onDecision, ownAddresses, program = loadHelperProgram } = options
  const helpers = new Map<string, RemoteDoors>()

  function doorsIn(helper: Helper): RemoteDoors {
    const doors = helpers.get(helper.name) ?? createRemoteDoors({ helper, program, ownAddresses, onDecision })
    helpers.set(helper.name, doors)
    return doors
  }

  return {
    open(door) {
      const { via, ...rest } = door
      if (!via) return proxy.open(rest)
      return doorsIn(via).open({ ...rest, log: rest.log ?? log.with({ workload: rest.workload }) })
    },
    async close() {
      await Promise.all([proxy.close(), ...[...helpers.values()].map(doors => doors.close())])
    },
  }
}
