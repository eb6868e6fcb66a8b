import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Instance,
  type InstanceSpec,
  type Runtime,
  STOP_GRACE_SECONDS,
  type WaitOptions,
} from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isFailure } from '../../src/errors.ts'
import { LABEL } from '../../src/lib/labels.ts'
import type { Log } from '../../src/log.ts'
import { attachInstance } from './attach-container.ts'
import { splitEnv, withEnvFile } from './container-env.ts'
import { openLogs } from './container-logs.ts'
import { readUsage } from './container-usage.ts'
import { createArguments } from './create-arguments.ts'
import type { Abilities, Dialect } from './dialect.ts'
import { createEngineCli } from './engine-cli.ts'
import { createEngineFacts } from './engine-facts.ts'
import { createImageStore } from './image-store.ts'
import { withBuildIsolation } from './isolation/build-isolation.ts'
import { createFirewall } from './isolation/firewall.ts'
import { createIsolatedNetworks, networkName } from './isolation/isolated-networks.ts'
import { type Container, parseContainers } from './parse-containers.ts'
import { probeEngine } from './probe-engine.ts'
import { watchInstances } from './watch-containers.ts'

const START_MS = 60_000
const REMOVE_MS = 30_000
/** How long after its end, in milliseconds, an engine may still start an instance again. */
const REST_MS = 1500

/** What is needed of an instance to start it. */
type Startable = Pick<Instance, 'id' | 'name' | 'state' | 'startedAt'>

/** Names an installation by its data folder, in a form that fits a label. */
export const ownerOf = (dataFolder: string): string =>
  createHash('sha256').update(dataFolder).digest('hex').slice(0, 16)

/**
 * Runs instances in containers of the engine whose program the dialect names, as a user would:
 * contexts, rootless and remote engines work. Containers without our owner's label are never touched.
 *
 * It is long because the methods of the runtime share the lookups of containers.
 */
export function createContainerRuntime(options: {
  dialect: Dialect
  /** Whose instances these are; see `ownerOf`. */
  owner: string
  env: Readonly<Record<string, string | undefined>>
  /** For files that the engine's helpers drop, and for cached facts about the engine. */
  folder: string
  /** Receives lines about what was repaired. */
  log?: Log | undefined
}): Runtime {
  const { dialect, owner, env, folder, log } = options
  const runtime = dialect.name
  const cli = createEngineCli({ dialect, env, folder })
  const facts = createEngineFacts({ dialect, env, folder })
  let info: Promise<unknown> | undefined
  let init = true
  /** Containers that this process has made and not started. What the engine printed is all it takes to start one. */
  const created = new Map<string, Startable>()

  const isOurs = ({ labels }: Instance) => labels[LABEL.managed] === 'true' && labels[LABEL.owner] === owner

  /** The container of that name, even when another program made it. Engines also accept the start of an id as a name. */
  async function find(name: string): Promise<Container | undefined> {
    try {
      const text = await cli.run(['container', 'inspect', '--', name], { doing: `inspect "${name}"`, name })
      return parseContainers(text, `${runtime} container inspect`).find(
        ({ instance }) => instance.name === name,
      )
    } catch (error) {
      if (isFailure(error, 'instance_missing')) return undefined
      throw error
    }
  }

  async function findOurs(name: string): Promise<Container | undefined> {
    const container = await find(name)
    return container && isOurs(container.instance) ? container : undefined
  }

  const inspect = async (name: string) => {
    const container = await findOurs(name)
    return container && withPortAccess(container)
  }

  /** This host or the helper reaches the instance at its address in its own network. */
  function withPortAccess({ instance, addresses }: Container): Instance {
    const address = addresses[networkName(owner, instance.name)]
    return address && instance.state === 'running' ? { ...instance, portAccess: { address } } : instance
  }

  async function get(name: string): Promise<Instance> {
    const instance = await inspect(name)
    if (!instance) throw runtimeFailures.instance_missing({ runtime, name })
    return instance
  }

  /** What to start: the container just made, else what the engine knows by that name. Fails with `instance_missing`. */
  async function takeStartable(name: string): Promise<Startable> {
    const fresh = created.get(name)
    created.delete(name)
    return fresh ?? get(name)
  }

  function readInfo(): Promise<unknown> {
    info ??= facts
      .get(dialect.infoArguments, () => cli.run(dialect.infoArguments, { doing: 'report its features' }))
      .then((text): unknown => JSON.parse(text))
      .catch(error => {
        info = undefined
        throw error
      })
    return info
  }

  /** Returns the container's id. */
  async function makeContainer(spec: InstanceSpec, signal: AbortSignal | undefined): Promise<string> {
    const { inherited, filed } = splitEnv(spec.env)
    const known: Abilities = dialect.readAbilities(await readInfo())
    const { name, image } = spec
    return withEnvFile(filed, async file => {
      const args = (withInit: boolean) =>
        createArguments(spec, {
          dialect,
          abilities: known,
          owner,
          inherited: Object.keys(inherited),
          envFile: file?.path,
          init: withInit,
        })
      const create = (withInit: boolean) =>
        cli.run(
          args(withInit),
          { doing: `create "${name}"`, name, image },
          { timeoutMs: START_MS, signal, env: inherited, file: file?.fd },
        )
      const printed = await create(init).catch(error => {
        if (!init || !isFailure(error) || !dialect.initMissing.test(error.message)) throw error
        init = false
        return create(false)
      })
      return printed.trim()
    })
  }

  function isAtRest({ instance, finishedAt }: Container): boolean {
    if (instance.state === 'created') return true
    if (instance.state !== 'exited') return false
    const restless = dialect.restartsUnseen && instance.restarts && finishedAt !== undefined
    return !restless || Date.now() - finishedAt.getTime() > REST_MS
  }

  const keepsComing = (name: string) =>
    runtimeFailures.runtime_failed({
      runtime,
      doing: `stop "${name}"`,
      problem: 'it ends and starts again all the time.',
      hint: 'Remove it instead.',
    })

  async function stopContainer(id: string, name: string, seconds: number): Promise<void> {
    try {
      await cli.run(
        ['stop', `--time=${seconds}`, '--', id],
        { doing: `stop "${name}"`, name },
        { timeoutMs: seconds * 1000 + START_MS },
      )
    } catch (error) {
      if (!isFailure(error, 'instance_missing')) throw error
    }
  }

  async function removeContainer({ id, name }: Instance): Promise<void> {
    const args = ['rm', '--force', '--volumes', ...dialect.removeArguments, '--', id]
    const deadline = Date.now() + REMOVE_MS
    for (;;) {
      try {
        await cli.run(args, { doing: `remove "${name}"`, name }, { timeoutMs: REMOVE_MS })
        return
      } catch (error) {
        if (isFailure(error, 'instance_missing')) return
        // Another process is removing the container, or it is just ending: wait, then check again.
        const busy =
          isFailure(error, 'runtime_failed') &&
          /already in progress|container state improper/i.test(error.message)
        if (!busy || Date.now() > deadline) throw error
        await delay(100)
      }
    }
  }

  /** Removes an instance of ours of that name. Fails with `name_taken` when the container is not ours. */
  async function makeRoom(name: string): Promise<void> {
    const existing = (await find(name))?.instance
    if (existing && !isOurs(existing)) throw runtimeFailures.name_taken({ runtime, name })
    if (existing) await removeContainer(existing)
  }

  /** A container that is removed meanwhile makes the whole call fail; then each is inspected alone. */
  async function inspectAll(ids: readonly string[]): Promise<Instance[]> {
    const subject = { doing: 'inspect its containers' }
    try {
      const text = await cli.run(['container', 'inspect', '--', ...ids], subject)
      return parseContainers(text, `${runtime} container inspect`).map(({ instance }) => instance)
    } catch (error) {
      if (!isFailure(error, 'instance_missing')) throw error
      if (ids.length <= 1) return []
      const each: Instance[][] = []
      for (const id of ids) each.push(await inspectAll([id]))
      return each.flat()
    }
  }

  const images = createImageStore({ dialect, cli })
  return {
    name: runtime,
    timesLogs: true,
    rank: dialect.rank,
    images: {
      ...images,
      has(reference) {
        readInfo().catch(() => undefined) // a run asks for it next, and the engine responds to both at once
        return images.has(reference)
      },
    },
    isolation: withBuildIsolation(
      createIsolatedNetworks({
        dialect,
        cli,
        owner,
        env,
        firewall: createFirewall({ owner, env }),
        images,
        log,
        info: readInfo,
      }),
      { dialect, cli, owner },
    ),
    probe: signal => {
      const onInfo = (found: unknown) => {
        info = Promise.resolve(found)
      }
      return probeEngine({ dialect, cli, facts, onInfo }, signal)
    },

    async create(spec: InstanceSpec, { signal }: WaitOptions = {}) {
      const { name } = spec
      if (!name)
        throw runtimeFailures.runtime_failed({
          runtime,
          doing: 'create an instance',
          problem: 'it has no name.',
        })
      try {
        // The engine itself says whether there is one of that name: mostly there is none.
        const id = await makeContainer(spec, signal).catch(async error => {
          if (!isFailure(error, 'name_taken')) throw error
          await makeRoom(name)
          return makeContainer(spec, signal)
        })
        created.set(name, { id, name, state: 'created' })
      } catch (error) {
        // The engine may have made the container although the call was aborted.
        if (signal?.aborted) {
          const half = await inspect(name)
          if (half) await removeContainer(half)
        }
        throw error
      }
    },

    async start(name) {
      const { id, state } = await takeStartable(name)
      if (state === 'running') return
      await cli.run(['start', '--', id], { doing: `start "${name}"`, name }, { timeoutMs: START_MS })
    },

    async attach(name) {
      let before = await takeStartable(name)
      // Its standard input ended with the process that held it, so a running instance is started anew.
      if (before.state === 'running' || before.state === 'restarting') {
        await this.stop(name, { graceSeconds: 1 })
        before = await get(name)
      }
      return attachInstance({ dialect, cli, env, before, info: readInfo, inspect: () => inspect(name) })
    },

    async stop(name, { graceSeconds = STOP_GRACE_SECONDS } = {}) {
      const seconds = Math.max(0, Math.ceil(graceSeconds))
      const deadline = Date.now() + seconds * 1000 + REMOVE_MS
      for (;;) {
        const container = await findOurs(name)
        if (!container || isAtRest(container)) return
        const { id, state } = container.instance
        // Also when it seems to have ended: the engine stops it after the start that is under way.
        await stopContainer(id, name, seconds)
        if (!dialect.restartsUnseen) return
        if (Date.now() > deadline) throw keepsComing(name)
        if (state === 'exited') await delay(100)
      }
    },

    async remove(name) {
      created.delete(name)
      const instance = await inspect(name)
      if (instance) await removeContainer(instance)
    },

    inspect,

    async list() {
      const ids = await cli.run(
        [
          'ps',
          '--all',
          '--quiet',
          '--no-trunc',
          `--filter=label=${LABEL.managed}=true`,
          `--filter=label=${LABEL.owner}=${owner}`,
        ],
        { doing: 'list its containers' },
      )
      const found = await Promise.all(chunk(ids.split('\n').filter(Boolean)).map(some => inspectAll(some)))
      return found.flat().filter(isOurs)
    },

    usage: names => readUsage(cli, names),

    async logs(name, log = {}) {
      return openLogs({ dialect, cli, instance: await get(name), log })
    },

    watch: signal => watchInstances({ dialect, cli, owner, signal, since: new Date() }),
  }
}

/** Keeps argument lists well below what systems allow. */
const chunk = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / 200) }, (_, i) => ids.slice(i * 200, (i + 1) * 200))
