import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Enclosure, Isolation, IsolationProbe } from '../../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import { findFreePort, isPortFree } from '../../../src/lib/ports.ts'
import type { Dialect, EngineNetwork } from '../dialect.ts'
import type { EngineCli } from '../engine-cli.ts'
import type { Firewall } from './firewall.ts'
import { candidates, DEFAULT_RANGE, nextAddress, parseRange, takenRanges } from './subnets.ts'

/** Where proxies usually listen; another one where that is taken on this host. */
const DOOR_PORT = 3128
const TRIES = 20
const REMOVE_MS = 10_000
const OPT_OUT =
  'Say --isolate-network=false to run it without isolation, or use an engine that runs on this host as root.'

/** Name of the network that belongs to one instance of one installation. */
export const networkName = (owner: string, instance: string): string =>
  `keelson-${owner.slice(0, 8)}-${instance}`

/** Arguments of `create` for an instance in its own network. */
export function enclosureArguments(owner: string, instance: string, { peer }: Enclosure): string[] {
  return [
    `--network=${networkName(owner, instance)}`,
    ...(peer ? [`--ip=${peer}`] : []),
    // Nobody listens there, so that no name server is ever asked in the instance's place.
    '--dns=127.0.0.1',
    '--dns-option=timeout:1',
    '--dns-option=attempts:1',
    // The bridge has a link-local IPv6 address, at which this host could be reached.
    ...(existsSync('/proc/sys/net/ipv6') ? ['--sysctl=net.ipv6.conf.all.disable_ipv6=1'] : []),
  ]
}

/** One internal network per instance, on an engine whose bridges are this host's. */
export function createNetworks(options: {
  dialect: Dialect
  cli: EngineCli
  owner: string
  env: Readonly<Record<string, string | undefined>>
  firewall: Firewall
  /** The engine's answer to `infoArguments`. */
  info: () => Promise<unknown>
}): Isolation {
  const { dialect, cli, owner, env, firewall, info } = options
  const { isolation } = dialect
  const runtime = dialect.name
  const nameOf = (instance: string) => networkName(owner, instance)
  const unsupported = (problem: string) =>
    runtimeFailures.isolation_unsupported({ runtime, problem, hint: OPT_OUT })

  async function inspect(names: readonly string[]): Promise<readonly EngineNetwork[]> {
    if (names.length === 0) return []
    const text = await cli.run(['network', 'inspect', '--', ...names], { doing: 'inspect its networks' })
    return isolation.readNetworks(JSON.parse(text))
  }

  async function find(name: string): Promise<EngineNetwork | undefined> {
    const found = await inspect([name]).catch(error => {
      if (isGone(error)) return []
      throw error
    })
    return found.find(network => network.name === name)
  }

  /** A network with the first subnet that nobody has. Undefined when there is one of that name already. */
  async function make(
    instance: string,
    workload: string,
    signal: AbortSignal | undefined,
  ): Promise<EngineNetwork | undefined> {
    const name = nameOf(instance)
    const text = env.KEELSON_ISOLATION_RANGE || DEFAULT_RANGE
    const range = parseRange(text)
    if (!range)
      throw unsupported(`KEELSON_ISOLATION_RANGE is "${text}", not a range such as ${DEFAULT_RANGE}.`)
    const taken = await takenRanges()
    const port = (await isPortFree(DOOR_PORT, '127.0.0.1')) ? DOOR_PORT : await findFreePort()
    const labels = {
      [LABEL.managed]: 'true',
      [LABEL.owner]: owner,
      [LABEL.name]: workload,
      [LABEL.instance]: instance,
      [LABEL.door]: String(port),
    }
    let tries = 0
    for (const subnet of candidates(range, { name, half: isolation.half })) {
      if (subnet.overlaps(taken)) continue
      if (++tries > TRIES) break
      const args = [
        'network',
        'create',
        '--internal',
        '--driver=bridge',
        `--subnet=${subnet.cidr}`,
        `--gateway=${subnet.gateway}`,
        ...Object.entries(labels).map(([key, value]) => `--label=${key}=${value}`),
        ...isolation.createArguments,
        name,
      ]
      try {
        const created = await cli.run(args, { doing: `create the network of "${instance}"` }, { signal })
        const bridge = isolation.bridgeOf?.(created)
        if (!bridge) return await find(name)
        return { name, bridge, gateway: subnet.gateway, internal: true, labels }
      } catch (error) {
        const words = messageOf(error)
        if (/already exists|name .* already used/i.test(words)) return undefined
        if (!/overlap|already used|conflicts with network/i.test(words)) throw error
      }
    }
    throw unsupported(`no free network was found in ${text} (KEELSON_ISOLATION_RANGE names another range).`)
  }

  async function drop(name: string, instance: string): Promise<void> {
    const deadline = Date.now() + REMOVE_MS
    for (;;) {
      try {
        await cli.run(['network', 'rm', name], { doing: `remove the network of "${instance}"` })
        return
      } catch (error) {
        if (isGone(error)) return
        const inUse = /active endpoints|associated containers|is being used|in use/i.test(messageOf(error))
        if (!inUse || Date.now() > deadline) throw error
        // A stopped instance still counts for one engine; one that is just ending, for the other.
        await cli
          .run(['network', 'disconnect', '--force', name, instance], { doing: 'leave a network' })
          .catch(() => delay(100))
      }
    }
  }

  async function probe(): Promise<IsolationProbe> {
    const problem =
      process.platform === 'linux'
        ? isolation.problem(await info())
        : 'the networks of its engine are not networks of this host.'
    return problem === undefined
      ? { ok: true, warnings: [] }
      : { ok: false, problem, hint: OPT_OUT, fallback: false }
  }

  return {
    async probe() {
      const able = await probe()
      const problem = able.ok ? await firewall.problem() : undefined
      return problem === undefined ? able : { ok: true, warnings: [openHost(problem)] }
    },

    async prepare(instance, { workload, signal }): Promise<Enclosure> {
      const able = await probe()
      if (!able.ok) throw unsupported(able.problem)
      const name = nameOf(instance)
      const made = await make(instance, workload, signal)
      const network = made ?? (await find(name))
      const port = Number(network?.labels[LABEL.door])
      if (!network?.internal || network.labels[LABEL.owner] !== owner || !port) {
        throw unsupported(`there is a network "${name}" that this keelson did not make.`)
      }
      const { bridge, gateway } = network
      // The bridge of an engine that is elsewhere is not among our interfaces.
      if (!isolation.raiseArguments && !(await isOurs(gateway))) {
        await drop(name, instance)
        throw unsupported('its networks are not networks of this host.')
      }
      const problem = await firewall.apply(
        { network: name, bridge, gateway, port },
        { isNew: made !== undefined },
      )
      return {
        door: { host: gateway, port },
        peer: nextAddress(gateway),
        proxyUrl: `http://${gateway}:${port}`,
        gateways: [gateway, ...DEFAULT_GATEWAYS],
        warnings: problem === undefined ? [] : [openHost(problem)],
      }
    },

    async raise(instance) {
      const args = isolation.raiseArguments
      if (args) await cli.run([...args, instance], { doing: `bring up the network of "${instance}"` })
    },

    async remove(instance) {
      const name = nameOf(instance)
      await drop(name, instance)
      await firewall.remove(name)
    },

    async list() {
      const ids = await cli.run(
        ['network', 'ls', '--quiet', '--no-trunc', `--filter=label=${LABEL.owner}=${owner}`],
        { doing: 'list its networks' },
      )
      const networks = (await inspect(ids.split('\n').filter(Boolean))).filter(
        ({ labels }) => labels[LABEL.owner] === owner && labels[LABEL.instance] !== undefined,
      )
      const known = new Set(networks.map(({ name }) => name))
      const prefix = nameOf('')
      const rules = (await firewall.list()).filter(name => name.startsWith(prefix) && !known.has(name))
      return [
        ...networks.map(({ labels }) => ({
          instance: labels[LABEL.instance] ?? '',
          workload: labels[LABEL.name] ?? '',
        })),
        ...rules.map(name => ({ instance: name.slice(prefix.length), workload: name.slice(prefix.length) })),
      ]
    },
  }
}

const isGone = (error: unknown): boolean =>
  isFailure(error) &&
  /no such network|network not found|unable to find network|network \S+ not found/i.test(error.message)

/** Tried out: an interface without a carrier, as a new bridge is, does not show in `networkInterfaces`. */
const isOurs = (address: string): Promise<boolean> =>
  findFreePort(address).then(
    () => true,
    () => false,
  )

/** Of the engines' default networks: what servers know as the address of their host. */
const DEFAULT_GATEWAYS = ['172.17.0.1', '10.88.0.1']

const openHost = (problem: string): string =>
  `services of this host that listen on all its addresses stay reachable from the server: ` +
  `no firewall rules could be set (${problem}). Run keelson as root to close this, or bind those services to 127.0.0.1.`
