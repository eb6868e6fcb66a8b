import { setTimeout as delay } from 'node:timers/promises'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import type { Dialect, EngineNetwork } from '../dialect.ts'
import type { EngineCli } from '../engine-cli.ts'
import { candidates, DEFAULT_RANGE, nextAddress, parseRange, type Subnet, takenRanges } from './subnets.ts'

const TRIES = 20
const REMOVE_MS = 10_000
/** Tries where this host does not see the engine's subnets. Many may be taken, and each taken one costs a call. */
const TRIES_ELSEWHERE = 200

/** Where the egress proxy of a network listens: on this host at the gateway, or in the helper. */
export type ProxyLocation = 'gateway' | 'helper'

/** Internal networks of one installation on one engine: one for each isolated instance. */
export interface NetworkStore {
  find(name: string): Promise<EngineNetwork | undefined>
  list(): Promise<readonly EngineNetwork[]>
  /** Makes a network in the first free subnet. Undefined when there is a network of that name already. */
  make(wanted: {
    name: string
    instance: string
    workload: string
    place: ProxyLocation
    port: number
    signal: AbortSignal | undefined
  }): Promise<EngineNetwork | undefined>
  /** Removes the network, and disconnects the instance first if it is still in it. Idempotent. */
  drop(name: string, instance: string): Promise<void>
}

export function createNetworkStore(options: {
  dialect: Dialect
  cli: EngineCli
  owner: string
  env: Readonly<Record<string, string | undefined>>
  hint: string
}): NetworkStore {
  const { dialect, cli, owner, env, hint } = options
  const { isolation, name: runtime } = dialect

  async function inspect(names: readonly string[]): Promise<readonly EngineNetwork[]> {
    if (names.length === 0) return []
    const text = await cli.run(['network', 'inspect', '--', ...names], { doing: 'inspect its networks' })
    return isolation.readNetworks(JSON.parse(text))
  }

  const store: NetworkStore = {
    async find(name) {
      const found = await inspect([name]).catch(error => {
        if (isGone(error)) return []
        throw error
      })
      return found.find(network => network.name === name)
    },

    async list() {
      const ids = await cli.run(
        ['network', 'ls', '--quiet', '--no-trunc', `--filter=label=${LABEL.owner}=${owner}`],
        { doing: 'list its networks' },
      )
      const names = ids.split('\n').filter(Boolean)
      const found = await inspect(names).catch(async error => {
        if (!isGone(error)) throw error
        // A network that is removed meanwhile makes the whole call fail; then each is inspected alone.
        return (await Promise.all(names.map(name => inspect([name]).catch(() => [])))).flat()
      })
      return found.filter(
        ({ labels }) => labels[LABEL.owner] === owner && labels[LABEL.instance] !== undefined,
      )
    },

    async make({ name, instance, workload, place, port, signal }) {
      const text = env.KEELSON_ISOLATION_RANGE || DEFAULT_RANGE
      const unsupported = (problem: string) =>
        runtimeFailures.isolation_unsupported({ runtime, problem, hint })
      const range = parseRange(text)
      if (!range)
        throw unsupported(`KEELSON_ISOLATION_RANGE is "${text}", not a range such as ${DEFAULT_RANGE}.`)
      const taken = await takenRanges()
      let tries = place === 'helper' ? TRIES_ELSEWHERE : TRIES
      for (const subnet of candidates(range, { name, half: isolation.half })) {
        if (subnet.overlaps(taken)) continue
        if (tries-- === 0) break
        const labels = {
          [LABEL.managed]: 'true',
          [LABEL.owner]: owner,
          [LABEL.name]: workload,
          [LABEL.instance]: instance,
          [LABEL.egressPort]: String(port),
          ...(place === 'helper' ? { [LABEL.helper]: nextAddress(subnet.gateway, 2) } : {}),
        }
        try {
          const created = await cli.run(
            createArguments(name, subnet, place, labels),
            { doing: `create the network of "${instance}"` },
            { signal },
          )
          const bridge = isolation.bridgeOf?.(created)
          if (!bridge) return await store.find(name)
          return { name, bridge, gateway: subnet.gateway, internal: true, labels }
        } catch (error) {
          const words = messageOf(error)
          if (/already exists|name .* already used/i.test(words)) return undefined
          if (!/overlap|already used|conflicts with network/i.test(words)) throw error
        }
      }
      throw unsupported(`no free network was found in ${text} (KEELSON_ISOLATION_RANGE names another range).`)
    },

    async drop(name, instance) {
      const deadline = Date.now() + REMOVE_MS
      for (;;) {
        try {
          await cli.run(['network', 'rm', name], { doing: `remove the network of "${instance}"` })
          return
        } catch (error) {
          if (isGone(error)) return
          const inUse = /active endpoints|associated containers|is being used|in use/i.test(messageOf(error))
          if (!inUse || Date.now() > deadline) throw error
          // Podman still counts a stopped instance, and docker one that is just ending.
          await cli
            .run(['network', 'disconnect', '--force', name, instance], { doing: 'leave a network' })
            .catch(() => delay(100))
        }
      }
    },
  }

  function createArguments(
    name: string,
    { cidr, gateway }: Subnet,
    place: ProxyLocation,
    labels: Readonly<Record<string, string>>,
  ): string[] {
    return [
      'network',
      'create',
      '--internal',
      '--driver=bridge',
      `--subnet=${cidr}`,
      ...(place === 'gateway' ? [`--gateway=${gateway}`] : isolation.hostless(gateway)),
      ...Object.entries(labels).map(([key, value]) => `--label=${key}=${value}`),
      ...isolation.createArguments,
      name,
    ]
  }

  return store
}

const isGone = (error: unknown): boolean =>
  isFailure(error) &&
  /no such network|network not found|unable to find network|network \S+ not found/i.test(error.message)
