import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import type {
  Instance,
  InstanceSpec,
  IsolatedNetwork,
  Isolation,
  Runtime,
} from '../../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { isFailure } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { proxyVariables } from '../../../src/net/proxy-variables.ts'
import { type EgressListener, type EgressProxy, isolationOf, policyOf } from '../../egress/index.ts'
import { createIngress } from './ingress.ts'
import { type Connector, connectorTo } from './port-relay.ts'

/** Network access of an isolated workload: its egress listener, and relays to its ports. */
export interface IsolatedAccess {
  /** Creates or finds the network, and completes the spec. */
  prepare(spec: InstanceSpec): Promise<InstanceSpec>
  /** Opens the egress listener. The instance has been created, and need not run yet. */
  openEgress(): Promise<void>
  /** Opens the relays to the ports of a running instance. */
  openIngress(instance: Instance): Promise<void>
  /** Where this process reaches a port of the instance, after `openIngress`. */
  urlOf(port: number): URL
  /** Closes the listener and the relays; the network stays. Idempotent. */
  close(): Promise<void>
}

/** Undefined for a workload without isolation. Fails with `isolation_unsupported` when it cannot be isolated. */
export function createIsolatedAccess(options: {
  config: RunConfig
  runtime: Runtime
  egress: EgressProxy | undefined
  log: Log
}): IsolatedAccess | undefined {
  const { config, runtime, egress } = options
  const isolation = isolationOf(config, runtime)
  if (!isolation) return undefined
  if (!egress) throw new Error('an isolated workload needs an egress proxy')
  return connectIsolated({ ...options, isolation, egress })
}

function connectIsolated(options: {
  config: RunConfig
  runtime: Runtime
  isolation: Isolation
  egress: EgressProxy
  log: Log
}): IsolatedAccess {
  const { config, runtime, isolation, egress, log } = options
  const instance = instanceName(config)
  let isolatedNetwork: IsolatedNetwork | undefined
  let listener: EgressListener | undefined
  let spec: InstanceSpec | undefined

  async function listen({ proxyAddress: listen, gateways, peer, helper }: IsolatedNetwork): Promise<void> {
    const policy = policyOf(config, gateways)
    listener ??= await egress.open({ workload: config.name, policy, listen, peer, log, helper })
  }

  /** Direct if this machine is on the instance's network, else through the helper. */
  function connectorAt(address: string, port: number): Connector {
    if (!isolatedNetwork?.helper) return connectorTo(address, port)
    return async () => {
      if (!listener?.connect) throw new Error('its egress listener is not open')
      return listener.connect(address, port)
    }
  }

  const ingress = createIngress({ connectorAt, isDirect: () => !isolatedNetwork?.helper })

  return {
    async prepare(plain) {
      isolatedNetwork = await isolation.prepare(instance, { workload: config.name })
      for (const warning of isolatedNetwork.warnings) log.warn(warning)
      if (plain.privileged) log.warn(PRIVILEGED)
      const env = { NODE_USE_ENV_PROXY: '1', ...plain.env, ...proxyVariables(isolatedNetwork.proxyUrl) }
      spec = { ...plain, env, isolatedNetwork }
      return spec
    },

    async openEgress() {
      if (!isolatedNetwork) return
      const { proxyAddress: place } = isolatedNetwork
      try {
        await listen(isolatedNetwork)
      } catch (error) {
        // Some engines create the bridge only with the instance.
        if (!isFailure(error, 'egress_listener_unusable')) throw error
        await isolation.activate(instance)
        await listen(isolatedNetwork).catch(problem => {
          if (!('host' in place) || !isFailure(problem, 'egress_listener_unusable')) throw problem
          throw runtimeFailures.isolation_unsupported({
            runtime: runtime.name,
            problem: problem.message,
            hint: 'Say --isolate-network=false to run it without isolation.',
          })
        })
      }
    },

    openIngress: found => ingress.open(found, spec?.ports ?? []),

    urlOf: ingress.urlOf,

    async close() {
      await Promise.all([ingress.close(), listener?.close()])
      listener = undefined
    },
  }
}

const PRIVILEGED =
  'The permission profile makes this server privileged: it could undo its isolation, and its hidden paths.'
