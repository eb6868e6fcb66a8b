import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import type { Enclosure, Instance, InstanceSpec, Isolation, Runtime } from '../../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { isFailure } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { type Door, type EgressProxy, networkKindOf, policyOf } from '../../egress/index.ts'
import { type Connector, connectorTo, createCallbackPool, createPortRelay } from './port-relay.ts'

/** The way out of an isolated workload and the ways into it. */
export interface IsolatedAccess {
  /** Makes the network, or finds it, and completes the spec. */
  prepare(spec: InstanceSpec): Promise<InstanceSpec>
  /** Opens the way out. The instance has been created, and need not run yet. */
  openEgress(): Promise<void>
  /** Opens the ways into a running instance. */
  openIngress(instance: Instance): Promise<void>
  /** Where this host reaches a port of the instance, once the ways are open. */
  urlOf(port: number): URL
  /** Closes door and ways; the network stays. Idempotent. */
  close(): Promise<void>
}

/** Where programs look for a proxy, in all spellings that are in use; what is local needs none. */
export const proxyVariables = (url: string): Record<string, string> => ({
  HTTP_PROXY: url,
  HTTPS_PROXY: url,
  http_proxy: url,
  https_proxy: url,
  NO_PROXY: LOCAL,
  no_proxy: LOCAL,
})
const LOCAL = 'localhost,127.0.0.1,::1'

/** Undefined for a workload that is not to be isolated. One that is, and cannot be, is not brought up. */
export function createIsolatedAccess(options: {
  config: RunConfig
  runtime: Runtime
  egress: EgressProxy | undefined
  log: Log
}): IsolatedAccess | undefined {
  const { runtime, egress } = options
  const { isolation } = runtime
  if (networkKindOf(options.config) !== 'isolated') return undefined
  if (isolation && egress) return connectIsolated({ ...options, isolation, egress })
  throw runtimeFailures.isolation_unsupported({
    runtime: runtime.name,
    problem: 'it has no means to do so.',
    hint: 'Say --isolate-network=false to run it without isolation, or choose another runtime.',
  })
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
  const urls = new Map<number, URL>()
  const open: { close(): Promise<void> }[] = []
  let enclosure: Enclosure | undefined
  let door: Door | undefined
  let ingressOf: string | undefined
  let spec: InstanceSpec | undefined

  async function listen({ door: listen, gateways, peer, helper: via }: Enclosure): Promise<void> {
    const policy = policyOf(config, gateways)
    door ??= await egress.open({ workload: config.name, policy, listen, peer, log, via })
  }

  /** From this host if it is on the instance's network, else through the helper. */
  function connectorAt(address: string, port: number): Connector {
    if (!enclosure?.helper) return connectorTo(address, port)
    return async () => {
      if (!door?.lead) throw new Error('its way out is not open')
      return door.lead(address, port)
    }
  }

  async function closeIngress(): Promise<void> {
    ingressOf = undefined
    urls.clear()
    await Promise.all(open.splice(0).map(way => way.close()))
  }

  return {
    async prepare(plain) {
      enclosure = await isolation.prepare(instance, { workload: config.name })
      for (const warning of enclosure.warnings) log.warn(warning)
      if (plain.privileged) log.warn(PRIVILEGED)
      const env = { NODE_USE_ENV_PROXY: '1', ...plain.env, ...proxyVariables(enclosure.proxyUrl) }
      spec = { ...plain, env, enclosure }
      return spec
    },

    async openEgress() {
      if (!enclosure) return
      const { door: place } = enclosure
      try {
        await listen(enclosure)
      } catch (error) {
        // Some engines bring the bridge up with the instance.
        if (!isFailure(error, 'door_unusable')) throw error
        await isolation.raise(instance)
        await listen(enclosure).catch(problem => {
          if (!('host' in place) || !isFailure(problem, 'door_unusable')) throw problem
          throw runtimeFailures.isolation_unsupported({
            runtime: runtime.name,
            problem: problem.message,
            hint: 'Say --isolate-network=false to run it without isolation.',
          })
        })
      }
    },

    async openIngress({ id, inside }) {
      const key = `${id} ${JSON.stringify(inside)}`
      if (!inside || ingressOf === key) return
      await closeIngress()
      const connectors = new Map<number, Connector | undefined>()
      for (const { instancePort, address, hostPort } of spec?.ports ?? []) {
        if (!connectors.has(instancePort)) connectors.set(instancePort, await connectorFor(instancePort))
        const connector = connectors.get(instancePort)
        if (!connector) continue
        if ('address' in inside && hostPort === undefined && !enclosure?.helper) {
          urls.set(instancePort, new URL(`http://${inside.address}:${instancePort}`))
          continue
        }
        const relay = await createPortRelay({ host: address, port: hostPort ?? 0 }, connector)
        open.push(relay)
        urls.set(instancePort, new URL(`http://127.0.0.1:${relay.port}`))
      }
      ingressOf = key

      async function connectorFor(port: number): Promise<Connector | undefined> {
        if (!inside) return undefined
        if ('address' in inside) return connectorAt(inside.address, port)
        const callback = inside.callbacks.find(one => one.port === port)
        if (!callback) return undefined
        const pool = await createCallbackPool(callback.path)
        open.push(pool)
        return pool.open
      }
    },

    urlOf: port => urls.get(port) ?? new URL(`http://127.0.0.1:${port}`),

    async close() {
      await Promise.all([closeIngress(), door?.close()])
      door = undefined
    },
  }
}

const PRIVILEGED =
  'The permission profile makes this server privileged: it could undo its isolation, and its hidden paths.'
