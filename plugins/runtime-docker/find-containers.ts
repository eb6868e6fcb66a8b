import type { Instance } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isFailure } from '../../src/errors.ts'
import { LABEL } from '../../src/lib/labels.ts'
import type { Dialect } from './dialect.ts'
import type { EngineCli } from './engine-cli.ts'
import { networkName } from './isolation/isolated-networks.ts'
import { type Container, parseContainers } from './parse-containers.ts'

/** How many containers one call inspects, which keeps argument lists well below what systems allow. */
const AT_ONCE = 200

/** Finds the containers of one owner. Containers without the owner's label are instances of somebody else. */
export interface ContainerFinder {
  /** The container of that name, even when another program made it. */
  find(name: string): Promise<Container | undefined>
  findOurs(name: string): Promise<Container | undefined>
  isOurs(instance: Instance): boolean
  inspect(name: string): Promise<Instance | undefined>
  /** As `inspect`. Fails with `instance_missing`. */
  get(name: string): Promise<Instance>
  list(): Promise<Instance[]>
}

export function createContainerFinder(options: {
  dialect: Dialect
  cli: EngineCli
  owner: string
}): ContainerFinder {
  const { dialect, cli, owner } = options
  const runtime = dialect.name
  const source = `${runtime} container inspect`

  /** A container that is removed meanwhile makes the whole call fail; then each is inspected alone. */
  async function inspectAll(ids: readonly string[]): Promise<Instance[]> {
    const subject = { doing: 'inspect its containers' }
    try {
      const text = await cli.run(['container', 'inspect', '--', ...ids], subject)
      return parseContainers(text, source).map(({ instance }) => instance)
    } catch (error) {
      if (!isFailure(error, 'instance_missing')) throw error
      if (ids.length <= 1) return []
      const each: Instance[][] = []
      for (const id of ids) each.push(await inspectAll([id]))
      return each.flat()
    }
  }

  /** This host or the helper reaches the instance at its address in its own network. */
  function withPortAccess({ instance, addresses }: Container): Instance {
    const address = addresses[networkName(owner, instance.name)]
    return address && instance.state === 'running' ? { ...instance, portAccess: { address } } : instance
  }

  const finder: ContainerFinder = {
    isOurs: ({ labels }) => labels[LABEL.managed] === 'true' && labels[LABEL.owner] === owner,

    async find(name) {
      try {
        const text = await cli.run(
          ['container', 'inspect', '--', name],
          { doing: `inspect "${name}"`, name },
          { api: { method: 'GET', path: `/containers/${encodeURIComponent(name)}/json`, print: asList } },
        )
        // Engines also accept the start of an id as a name.
        return parseContainers(text, source).find(({ instance }) => instance.name === name)
      } catch (error) {
        if (isFailure(error, 'instance_missing')) return undefined
        throw error
      }
    },

    async findOurs(name) {
      const container = await finder.find(name)
      return container && finder.isOurs(container.instance) ? container : undefined
    },

    async inspect(name) {
      const container = await finder.findOurs(name)
      return container && withPortAccess(container)
    },

    async get(name) {
      const instance = await finder.inspect(name)
      if (!instance) throw runtimeFailures.instance_missing({ runtime, name })
      return instance
    },

    async list() {
      const filters = [`--filter=label=${LABEL.managed}=true`, `--filter=label=${LABEL.owner}=${owner}`]
      const ids = await cli.run(['ps', '--all', '--quiet', '--no-trunc', ...filters], {
        doing: 'list its containers',
      })
      const found = await Promise.all(chunk(ids.split('\n').filter(Boolean)).map(inspectAll))
      return found.flat().filter(finder.isOurs)
    },
  }
  return finder
}

const asList = (body: string): string => `[${body}]`

const chunk = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, i) => ids.slice(i * AT_ONCE, (i + 1) * AT_ONCE))
