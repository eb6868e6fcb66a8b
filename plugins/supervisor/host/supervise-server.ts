import { toMounts } from '../../../src/contracts/mounts.ts'
import type { Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import { findFreePort } from '../../../src/lib/ports.ts'
import type { Log } from '../../../src/log.ts'
import { toInstanceSpec } from '../to-instance-spec.ts'
import type { HostState } from './host-state.ts'
import { createIsolatedAccess, type IsolatedAccess } from './isolated-access.ts'
import { createLifecycle, type Lifecycle } from './lifecycle.ts'
import { stopInstance } from './stop-instance.ts'
import type { LocalServer, ServerAddress } from './workload-instance.ts'

type Variables = Readonly<Record<string, string>>

/** A server with its lifecycle. */
export interface SupervisedServer {
  readonly config: RunConfig
  readonly lifecycle: Lifecycle
  /** Undefined for a remote workload. */
  readonly runtime: Runtime | undefined
  /** Present when the workload is isolated. */
  readonly access: IsolatedAccess | undefined
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
  const lifecycle = createLifecycle({
    config,
    local,
    target,
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
  return { config, lifecycle, runtime, access }
}

async function findAddress(config: RunConfig, runtime: Runtime | undefined): Promise<ServerAddress> {
  const { target_host: given, target_port, transport } = config
  const host = given && given !== '0.0.0.0' ? given : '127.0.0.1'
  const port = transport === 'stdio' || !runtime ? 0 : target_port || (await findFreePort())
  return { host, port }
}

async function toLocalServer(
  state: HostState,
  config: RunConfig,
  { runtime, target, log }: { runtime: Runtime; target: ServerAddress; log: Log },
): Promise<LocalServer> {
  let specError: unknown
  /** Without them no instance is made; one that runs already goes on. */
  const read = (what: string, found: Promise<Variables> | undefined): Promise<Variables> =>
    Promise.resolve(found ?? {}).catch((error: unknown) => {
      specError ??= error
      log.warn(`${what} cannot be read now: ${messageOf(error)}`)
      return {}
    })
  const secrets = await read('Its secrets', state.findSecrets?.(config))
  const env = await read('Its folder of variables', state.findEnv?.(config))
  if (config.no_sandbox) log.warn('It runs without a sandbox (--no-sandbox).')
  const mounts = toMounts(config, log)
  const spec = toInstanceSpec(config, {
    proxyPort: config.port,
    contained: runtime.images !== undefined,
    targetPort: target.port,
    mounts,
    env,
    secrets,
  })
  return {
    runtime,
    spec,
    specError,
    access: createIsolatedAccess({ config, runtime, egress: state.egress, log }),
    findHidden: async () => (await state.findHidden?.(config, mounts)) ?? [],
    secrets: Object.values(secrets).filter(Boolean),
  }
}
