import type { Instance, InstanceSpec } from '../../../src/contracts/runtime.ts'
import { type Connector, createCallbackPool, createPortRelay } from './port-relay.ts'

/** The ways from this process to the ports of one isolated instance. */
export interface Ingress {
  /** Opens the relays to a running instance; those to another instance before it are closed. */
  open(instance: Instance, ports: NonNullable<InstanceSpec['ports']>): Promise<void>
  /** Where this process reaches a port of the instance, after `open`. */
  urlOf(port: number): URL
  /** Idempotent. */
  close(): Promise<void>
}

export function createIngress(options: {
  connectorAt: (address: string, port: number) => Connector
  /** Whether this machine is on the instance's network, so that ports without a binding need no relay. */
  isDirect: () => boolean
}): Ingress {
  const { connectorAt, isDirect } = options
  const urls = new Map<number, URL>()
  const opened: { close(): Promise<void> }[] = []
  let openFor: string | undefined

  async function connectorFor(
    portAccess: NonNullable<Instance['portAccess']>,
    port: number,
  ): Promise<Connector | undefined> {
    if ('address' in portAccess) return connectorAt(portAccess.address, port)
    const callback = portAccess.callbacks.find(one => one.port === port)
    if (!callback) return undefined
    const pool = await createCallbackPool(callback.path)
    opened.push(pool)
    return pool.open
  }

  async function close(): Promise<void> {
    openFor = undefined
    urls.clear()
    await Promise.all(opened.splice(0).map(relay => relay.close()))
  }

  return {
    async open({ id, portAccess }, ports) {
      const key = `${id} ${JSON.stringify(portAccess)}`
      if (!portAccess || openFor === key) return
      await close()
      const connectors = new Map<number, Connector | undefined>()
      for (const { instancePort, address, hostPort } of ports) {
        if (!connectors.has(instancePort)) {
          connectors.set(instancePort, await connectorFor(portAccess, instancePort))
        }
        const connector = connectors.get(instancePort)
        if (!connector) continue
        if ('address' in portAccess && hostPort === undefined && isDirect()) {
          urls.set(instancePort, new URL(`http://${portAccess.address}:${instancePort}`))
          continue
        }
        const relay = await createPortRelay({ host: address, port: hostPort ?? 0 }, connector)
        opened.push(relay)
        urls.set(instancePort, new URL(`http://127.0.0.1:${relay.port}`))
      }
      openFor = key
    },
    urlOf: port => urls.get(port) ?? new URL(`http://127.0.0.1:${port}`),
    close,
  }
}
