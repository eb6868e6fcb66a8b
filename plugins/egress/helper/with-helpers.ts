import type { Helper } from '../../../src/contracts/runtime.ts'
import type { EgressProxy, EgressProxyOptions } from '../proxy/egress-proxy.ts'
import { loadHelperProgram } from './bundle-helper.ts'
import { createRemoteListeners, type RemoteListeners } from './remote-listeners.ts'

/** The same proxy, which also opens listeners in helpers. */
export function withHelpers(
  proxy: EgressProxy,
  options: Pick<EgressProxyOptions, 'log' | 'onDecision'> & {
    readonly ownAddresses: () => ReadonlySet<string>
    /** What runs in a helper. */
    readonly program?: () => Promise<string>
  },
): EgressProxy {
  const { log, onDecision, ownAddresses, program = loadHelperProgram } = options
  const helpers = new Map<string, RemoteListeners>()

  function listenersIn(helper: Helper): RemoteListeners {
    const listeners =
      helpers.get(helper.name) ?? createRemoteListeners({ helper, program, ownAddresses, onDecision })
    helpers.set(helper.name, listeners)
    return listeners
  }

  return {
    open(listener) {
      const { helper, ...rest } = listener
      if (!helper) return proxy.open(rest)
      return listenersIn(helper).open({ ...rest, log: rest.log ?? log.with({ workload: rest.workload }) })
    },
    async close() {
      await Promise.all([proxy.close(), ...[...helpers.values()].map(listeners => listeners.close())])
    },
  }
}
