import type { Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import { findFreePort } from '../../../src/lib/ports.ts'
import type { Log } from '../../../src/log.ts'
import { type ClientInstances, createClientInstances } from './client-instances.ts'
import type { HostState } from './host-state.ts'
import type { IsolatedAccess } from './isolated-access.ts'
import { createLifecycle, type Lifecycle } from './lifecycle.ts'
import { toLocalServer } from './local-server.ts'
import { stopInstance } from './stop-instance.ts'
import type { ServerAddress } from './workload-instance.ts'

/** A server with its lifecycle. */
export interface SupervisedServer {
  readonly config: RunConfig
  /** Of the run config (`WorkloadHostOptions.digest`). */
  readonly digest: string | undefined
  readonly lifecycle: Lifecycle
  /** Undefined for a remote workload. */
  readonly runtime: Runtime | undefined
  /** Present when the workload is isolated. */
  readonly access: IsolatedAccess | undefined
  /** Present where clients may get processes of their own. */
  readonly clients: ClientInstances | undefined
}

/** Creates the lifecycle of a server behind a proxy; starts nothing yet. */
export async function superviseServer(
  state: HostState,
  config: RunConfig,
  { proxy, log }: { proxy: WorkloadProxy; log: Log },
): Promise<SupervisedServer> {
  const { name } = config
  const runtime = config.remote_url ? undefined : await state.runtimes.get(config.runtime ?? '')
  const target = await findAddress(config, runtime)
  const local = runtime && (await toLocalServer(state, config, { runtime, target, log }))
  const access = local?.access
  const clients = runtime && createClientInstances(state, config, { runtime, target, log })
  const lifecycle = createLifecycle({
    config,
    local,
    target,
    spawn: clients?.spawn,
    proxy,
    clock: state.clock,
    times: state.times,
    log,
    setStatus: (status, details) => state.setStatus(name, status, details),
    enqueue: work => state.inTurn(name, work),
    async onGivenUp(context) {
      await proxy.close({ graceMs: 0 })
      await access?.close()
      await stopInstance(state, config, runtime).catch(error =>
        state.log.warn(messageOf(error), { workload: name }),
      )
      await state.setStatus(name, 'error', { context })
      await state.forget(name)
    },
  })
  return { config, digest: await state.digest?.(config), lifecycle, runtime, access, clients }
}

async function findAddress(config: RunConfig, runtime: Runtime | undefined): Promise<ServerAddress> {
  const { target_host: given, target_port, transport } = config
  const host = given && given !== '0.0.0.0' ? given : '127.0.0.1'
  const port = transport === 'stdio' || !runtime ? 0 : target_port || (await findFreePort())
  return { host, port }
}
