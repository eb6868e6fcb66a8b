import { randomBytes } from 'node:crypto'
import type { ClientInstanceFactory } from '../../../src/contracts/pipeline.ts'
import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import type { Log } from '../../../src/log.ts'
import { createClientInstance, type StartableInstance } from './client-instance.ts'
import type { HostState } from './host-state.ts'
import { mayServeOneClient } from './may-serve-one-client.ts'
import type { ServerAddress } from './workload-instance.ts'

/** Engines take names of 128 characters at least. */
const LONGEST_BASE = 100

/** The instances of one workload that serve one client each. */
export interface ClientInstances {
  readonly spawn: ClientInstanceFactory
  /** Whether an instance of this name is in use. */
  has(instance: string): boolean
  /** Ends them all; no more are started. Idempotent. */
  close(): Promise<void>
}

/** Undefined where all clients share one process. */
export function createClientInstances(
  state: HostState,
  config: RunConfig,
  given: { runtime: Runtime; target: ServerAddress; log: Log },
): ClientInstances | undefined {
  if (!mayServeOneClient(config)) return undefined
  const closing = new AbortController()
  const { signal } = closing
  const instances = new Map<string, StartableInstance>()
  let count = 0

  return {
    async spawn() {
      signal.throwIfAborted()
      count += 1
      const own = toClientConfig(config, count)
      const name = instanceName(own)
      const instance = createClientInstance(state, own, {
        ...given,
        signal,
        onEnded: () => instances.delete(name),
      })
      // It counts as used before it exists, so that nobody takes it for a left one.
      instances.set(name, instance)
      const { end } = instance
      return { attachment: await instance.start(), end }
    },
    has: instance => instances.has(instance),
    async close() {
      closing.abort()
      await Promise.all([...instances.values()].map(({ end }) => end()))
    },
  }
}

/** Its name is never that of another workload's instance. A port of the host can be published only once. */
const toClientConfig = (config: RunConfig, count: number): RunConfig => ({
  ...config,
  container_name: `${instanceName(config).slice(0, LONGEST_BASE)}-${count}-${randomBytes(4).toString('hex')}`,
  publish: [],
})
