import { createHash } from 'node:crypto'
import {
  type ImageStore,
  type Instance,
  type InstanceSpec,
  type Runtime,
  STOP_GRACE_SECONDS,
} from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isFailure } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { attachInstance } from './attach-container.ts'
import { START_MS } from './attach-options.ts'
import { openLogs } from './container-logs.ts'
import { readUsage } from './container-usage.ts'
import type { Dialect } from './dialect.ts'
import { createContainerEnder } from './end-containers.ts'
import { createEngineCli, type OpenCall } from './engine-cli.ts'
import { createEngineFacts } from './engine-facts.ts'
import { createEngineInfo, type EngineInfo } from './engine-info.ts'
import { overSocket } from './engine-over-socket.ts'
import { createContainerFinder } from './find-containers.ts'
import { createImageStore } from './image-store.ts'
import { withBuildIsolation } from './isolation/build-isolation.ts'
import { createFirewall } from './isolation/firewall.ts'
import { createIsolatedNetworks } from './isolation/isolated-networks.ts'
import { createContainerMaker } from './make-container.ts'
import { createOwnSocket } from './own-socket.ts'
import { probeEngine } from './probe-engine.ts'
import { watchInstances } from './watch-containers.ts'

/** What is needed of an instance to start it. */
type Startable = Pick<Instance, 'id' | 'name' | 'state' | 'startedAt'>

/** Names an installation by its data folder, in a form that fits a label. */
export const ownerOf = (dataFolder: string): string =>
  createHash('sha256').update(dataFolder).digest('hex').slice(0, 16)

export interface ContainerRuntimeOptions {
  readonly dialect: Dialect
  /** Whose instances these are; see `ownerOf`. */
  readonly owner: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** For files that the engine's helpers drop, and for cached facts about the engine. */
  readonly folder: string
  /** Receives lines about what was repaired. */
  readonly log?: Log | undefined
}

/**
 * Runs instances in containers of the engine whose program the dialect names, as a user would:
 * contexts, rootless and remote engines work. Containers without our owner's label are never touched.
 */
export function createContainerRuntime(options: ContainerRuntimeOptions): Runtime {
  const parts = createParts(options)
  const { dialect, cli, owner, facts, info, images, finder } = parts
  return {
    name: dialect.name,
    timesLogs: true,
    rank: dialect.rank,
    images: askingAhead(images, info),
    isolation: withBuildIsolation(createIsolatedNetworks(parts), { dialect, cli, owner }),
    probe: signal => probeEngine({ dialect, cli, facts, onInfo: info.set }, signal),
    ...createStarts(parts),
    inspect: finder.inspect,
    list: finder.list,
    usage: names => readUsage(cli, names),
    logs: async (name, log = {}) => openLogs({ dialect, cli, instance: await finder.get(name), log }),
    watch: signal => watchInstances({ dialect, cli, owner, signal, since: new Date() }),
  }
}

function createParts(options: ContainerRuntimeOptions) {
  const { dialect, owner, env, folder } = options
  const program = createEngineCli({ dialect, env, folder })
  const facts = createEngineFacts({ dialect, env, folder })
  const info = createEngineInfo({ dialect, cli: program, facts })
  const cli = overSocket(program, { dialect, socket: createOwnSocket({ dialect, env, facts, info }) })
  const finder = createContainerFinder({ dialect, cli, owner })
  return {
    ...{ log: undefined, ...options, cli, facts, info, finder },
    ender: createContainerEnder({ dialect, cli, finder }),
    make: createContainerMaker({ dialect, cli, owner, env, info: info.read }),
    images: createImageStore({ dialect, cli }),
    firewall: createFirewall({ owner, env }),
  }
}

type Parts = ReturnType<typeof createParts>

/** A run asks for the engine's features next, and the engine responds to both at once. */
const askingAhead = (images: ImageStore, info: EngineInfo): ImageStore => ({
  ...images,
  has(reference) {
    info.read().catch(() => undefined)
    return images.has(reference)
  },
})

/** The methods that bring an instance to life and take it away, which share what was made and not started yet. */
function createStarts(parts: Parts): Pick<Runtime, 'create' | 'start' | 'attach' | 'stop' | 'remove'> {
  const { dialect, cli, env, info, finder, ender, make } = parts
  const runtime = dialect.name
  /** Containers that this process has made and not started. What the engine printed is all it takes to start one. */
  const created = new Map<string, Startable>()
  /** The streams that this process holds, by the name of the instance. */
  const attached = new Map<string, Pick<OpenCall, 'dropUnread'>>()

  /** What to start: the container just made, else what the engine knows by that name. Fails with `instance_missing`. */
  async function takeStartable(name: string): Promise<Startable> {
    const fresh = created.get(name)
    created.delete(name)
    return fresh ?? finder.get(name)
  }

  /** Removes an instance of ours of that name. Fails with `name_taken` when the container is not ours. */
  async function makeRoom(name: string): Promise<void> {
    const existing = (await finder.find(name))?.instance
    if (existing && !finder.isOurs(existing)) throw runtimeFailures.name_taken({ runtime, name })
    if (existing) await ender.remove(existing)
  }

  /** The engine itself says whether there is one of that name: mostly there is none. */
  async function makeAnew(spec: InstanceSpec, signal: AbortSignal | undefined): Promise<string> {
    try {
      return await make(spec, signal)
    } catch (error) {
      if (!isFailure(error, 'name_taken')) throw error
      await makeRoom(spec.name)
      return make(spec, signal)
    }
  }

  return {
    async create(spec, { signal } = {}) {
      const { name } = spec
      if (!name) {
        const problem = 'it has no name.'
        throw runtimeFailures.runtime_failed({ runtime, doing: 'create an instance', problem })
      }
      try {
        created.set(name, { id: await makeAnew(spec, signal), name, state: 'created' })
      } catch (error) {
        // The engine may have made the container although the call was aborted.
        const half = signal?.aborted ? await finder.inspect(name) : undefined
        if (half) await ender.remove(half)
        throw error
      }
    },

    async start(name) {
      const { id, state } = await takeStartable(name)
      if (state === 'running') return
      const api = { method: 'POST', path: `/containers/${id}/start` } as const
      const subject = { doing: `start "${name}"`, name }
      await cli.run(['start', '--', id], subject, { timeoutMs: START_MS, api })
    },

    async attach(name) {
      let before = await takeStartable(name)
      // Its standard input ended with the process that held it, so a running instance is started anew.
      if (before.state === 'running' || before.state === 'restarting') {
        await ender.stop(name, 1)
        before = await finder.get(name)
      }
      const inspect = () => finder.inspect(name)
      const { dropUnread, ...attachment } = await attachInstance({
        ...{ dialect, cli, env, before, info: info.read, inspect },
      })
      const held = { dropUnread }
      attached.set(name, held)
      void attachment.exit.then(() => attached.get(name) === held && attached.delete(name))
      return attachment
    },

    async stop(name, { graceSeconds = STOP_GRACE_SECONDS } = {}) {
      // Docker reports the end of an instance once its output was read, and waits for that without a limit.
      attached.get(name)?.dropUnread()
      await ender.stop(name, graceSeconds)
    },

    async remove(name) {
      created.delete(name)
      attached.get(name)?.dropUnread()
      const instance = await finder.inspect(name)
      if (instance) await ender.remove(instance)
    },
  }
}
