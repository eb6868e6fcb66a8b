import { setTimeout as delay } from 'node:timers/promises'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import type { Dialect, EngineNetwork } from '../dialect.ts'
import type { EngineCli } from '../engine-cli.ts'
import { makeNetwork } from './make-network.ts'

const REMOVE_MS = 10_000

/** Where the egress proxy of a network listens: on this host at the gateway, or in the helper. */
export type ProxyLocation = 'gateway' | 'helper'

/** A network that is to be made. */
export interface WantedNetwork {
  readonly name: string
  readonly instance: string
  readonly workload: string
  readonly place: ProxyLocation
  /** Where the egress proxy listens. */
  readonly port: number
  readonly signal: AbortSignal | undefined
}

/** Internal networks of one installation on one engine: one for each isolated instance. */
export interface NetworkStore {
  find(name: string): Promise<EngineNetwork | undefined>
  list(): Promise<readonly EngineNetwork[]>
  /** Makes a network in the first free subnet. Undefined when there is a network of that name already. */
  make(wanted: WantedNetwork): Promise<EngineNetwork | undefined>
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
  const { dialect, cli, owner } = options

  async function inspect(names: readonly string[]): Promise<readonly EngineNetwork[]> {
    const [first, ...others] = names
    if (first === undefined) return []
    const path = `/networks/${encodeURIComponent(first)}`
    const text = await cli.run(
      ['network', 'inspect', '--', ...names],
      { doing: 'inspect its networks' },
      others.length ? {} : { api: { method: 'GET', path, print: body => `[${body}]` } },
    )
    return dialect.isolation.readNetworks(JSON.parse(text))
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

    make: wanted => makeNetwork(wanted, { ...options, find: store.find }),

    async drop(name, instance) {
      const deadline = Date.now() + REMOVE_MS
      for (;;) {
        try {
          const api = { method: 'DELETE', path: `/networks/${encodeURIComponent(name)}` } as const
          await cli.run(['network', 'rm', name], { doing: `remove the network of "${instance}"` }, { api })
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

  return store
}

const isGone = (error: unknown): boolean =>
  isFailure(error) &&
  /no such network|network not found|unable to find network|network \S+ not found/i.test(error.message)
