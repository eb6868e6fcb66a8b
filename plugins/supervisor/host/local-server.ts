import { toMounts } from '../../../src/contracts/mounts.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { toInstanceSpec } from '../to-instance-spec.ts'
import type { HostState } from './host-state.ts'
import { createIsolatedAccess } from './isolated-access.ts'
import type { LocalServer, ServerAddress } from './workload-instance.ts'

type Variables = Readonly<Record<string, string>>

/** Reads what an instance is made of. Of what cannot be read, no instance is made (`LocalServer.specError`). */
export async function toLocalServer(
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
