import { setTimeout as delay } from 'node:timers/promises'
import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import type { Attachment, Runtime } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import type { Log } from '../../../src/log.ts'
import type { HostState } from './host-state.ts'
import { toLocalServer } from './local-server.ts'
import { readLastLines } from './read-last-lines.ts'
import { removeInstance } from './stop-instance.ts'
import {
  createWorkloadInstance,
  type LocalServer,
  type ServerAddress,
  type WorkloadInstance,
} from './workload-instance.ts'

/** How long a server may take to end after its input was closed, in milliseconds (MCP lifecycle, shutdown of stdio). */
const SHUTDOWN_MS = 2000

/** The instance of one client. */
export interface StartableInstance {
  /** Starts it, once. When that fails, nothing of it is left. */
  start(): Promise<Attachment>
  /** Ends and removes it, also while it starts. Idempotent; never fails. */
  end(): Promise<void>
}

export function createClientInstance(
  state: HostState,
  config: RunConfig,
  options: {
    runtime: Runtime
    target: ServerAddress
    log: Log
    signal: AbortSignal
    onEnded: () => void
  },
): StartableInstance {
  const { runtime, target, log, signal, onEnded } = options
  const name = instanceName(config)
  let starting: Promise<Attachment> | undefined
  let ending: Promise<void> | undefined
  let server: LocalServer | undefined
  let instance: WorkloadInstance | undefined
  /** The last lines of the log go with the instance. */
  let told: Promise<void> | undefined

  async function tell(how: string): Promise<void> {
    const lines = await readLastLines(runtime, name, server?.secrets)
    log.warn(`The process of one client ended: ${how}`, { instance: name, lines })
  }

  async function start(): Promise<Attachment> {
    const local = await toLocalServer(state, config, { runtime, target, log })
    server = { ...local, spec: { ...local.spec, labels: { ...local.spec.labels, [LABEL.client]: 'true' } } }
    instance = createWorkloadInstance({ config, local: server, target, signal })
    const backend = await instance.start('create', how => {
      if (!ending) told = tell(how)
    })
    if (backend.kind !== 'stdio') throw new Error(`${name} has no standard streams`)
    return backend.attachment
  }

  async function remove(): Promise<void> {
    const attachment = await starting?.catch(() => undefined)
    attachment?.stdin.end()
    if (attachment) await Promise.race([attachment.exit, delay(SHUTDOWN_MS, undefined, { ref: false })])
    await told
    instance?.detach()
    await removeInstance(state, config, runtime)
    await server?.access?.close()
    onEnded()
  }

  function end(): Promise<void> {
    ending ??= remove().catch(error => log.warn(messageOf(error), { instance: name }))
    return ending
  }

  return {
    start() {
      starting = start()
      starting.catch(end)
      return starting
    },
    end,
  }
}
