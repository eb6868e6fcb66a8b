import { existsSync } from 'node:fs'
import type { ImageStore, IsolatedNetwork, Isolation } from '../../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import { findFreePort, isPortFree } from '../../../src/lib/ports.ts'
import type { Log } from '../../../src/log.ts'
import type { Dialect, EngineNetwork } from '../dialect.ts'
import type { EngineCli } from '../engine-cli.ts'
import type { EngineInfo } from '../engine-info.ts'
import type { Firewall } from './firewall.ts'
import { createFirewallWatchdog } from './firewall-watchdog.ts'
import { createHelperContainer } from './helper-container.ts'
import { createHelperImage } from './helper-image.ts'
import { createNetworkStore, type ProxyLocation } from './network-store.ts'
import { nextAddress } from './subnets.ts'

/** The usual port of forward proxies. Another one is used where it is taken on this host. */
const EGRESS_PORT = 3128
const OPT_OUT = 'Say --isolate-network=false to run it without isolation, or choose another runtime.'
/** Gateways of the engines' default networks, which servers know as the addresses of their host. */
const DEFAULT_GATEWAYS = ['172.17.0.1', '10.88.0.1']

/** Name of the network that belongs to one instance of one installation. */
export const networkName = (owner: string, instance: string): string =>
  `keelson-${owner.slice(0, 8)}-${instance}`

/** Differs from every instance name, since those begin with a letter or a digit. */
const HELPER = '_egress'

/** Arguments of `create` for an instance in its own network. */
export function isolatedNetworkArguments(
  { isolation }: Dialect,
  owner: string,
  instance: string,
  { peer, helper }: IsolatedNetwork,
): string[] {
  return [
    `--network=${networkName(owner, instance)}`,
    ...(peer ? [`--ip=${peer}`] : []),
    ...(peer && helper && isolation.changesMac ? [`--mac-address=${macOf(peer)}`] : []),
    // Nothing listens there, so the engine asks no name server for the instance.
    '--dns=127.0.0.1',
    '--dns-option=timeout:1',
    '--dns-option=attempts:1',
    // Without IPv6 the instance cannot reach the host at the link-local address of the bridge.
    ...(helper || existsSync('/proc/sys/net/ipv6') ? ['--sysctl=net.ipv6.conf.all.disable_ipv6=1'] : []),
  ]
}

/** Locally administered (IEEE 802), and as unique on its network as the address it is made from. */
const macOf = (address: string): string =>
  ['02', '42', ...address.split('.').map(part => Number(part).toString(16).padStart(2, '0'))].join(':')

/**
 * Gives each instance one internal network.
 *
 * Where this host is on the network, the egress proxy listens at its gateway. This host is not on it when
 * the engine is rootless, in a virtual machine or remote. Then, and where no firewall rules may be set, the
 * engine's host gets no address on the network, and the egress proxy runs in one helper that is on all networks.
 *
 * It is long because the methods share what was found out about this host: its engine and its firewall.
 */
export function createIsolatedNetworks(options: {
  dialect: Dialect
  cli: EngineCli
  owner: string
  env: Readonly<Record<string, string | undefined>>
  firewall: Firewall
  images: ImageStore
  log: Log | undefined
  info: Pick<EngineInfo, 'read'>
}): Isolation {
  const { dialect, cli, owner, env, firewall, images, log, info } = options
  const { isolation, name: runtime } = dialect
  const nameOf = (instance: string) => networkName(owner, instance)
  const networks = createNetworkStore({ dialect, cli, owner, env, hint: OPT_OUT })
  const watchdog = createFirewallWatchdog({ firewall, log })
  const image = createHelperImage({ runtime, images, env })
  const helper = createHelperContainer({
    dialect,
    cli,
    owner,
    name: nameOf(HELPER),
    image,
    log,
    addresses: async () =>
      (await networks.list()).flatMap(({ name, labels }) => {
        const address = labels[LABEL.helper]
        return address ? [{ network: name, address }] : []
      }),
  })
  /** Whether a network of this engine turned out not to be on this host. */
  let foundElsewhere = false

  const isElsewhere = async () =>
    foundElsewhere || process.platform !== 'linux' || isolation.elsewhere(await info.read()) !== undefined

  /** Once rules could be set, they are not tried again. */
  let maySetRules = false
  async function firewallProblem(): Promise<string | undefined> {
    const problem = maySetRules ? undefined : await firewall.problem()
    maySetRules = problem === undefined
    return problem
  }

  /** Why neither firewall rules nor a helper can keep servers from this host. */
  let lacking: string | undefined

  async function chooseLocation(): Promise<ProxyLocation> {
    lacking = undefined
    if (await isElsewhere()) return 'helper'
    const problem = await firewallProblem()
    if (problem === undefined) return 'gateway'
    try {
      await image.fetch()
      return 'helper'
    } catch (error) {
      lacking = `${problem}, and ${messageOf(error)}`
      return 'gateway'
    }
  }

  async function makeOrFind(
    place: ProxyLocation,
    wanted: { instance: string; workload: string; signal: AbortSignal | undefined },
  ): Promise<{ network: EngineNetwork; isNew: boolean }> {
    const name = nameOf(wanted.instance)
    const isFree = place === 'helper' || (await isPortFree(EGRESS_PORT, '127.0.0.1'))
    const made = await networks.make({
      ...wanted,
      name,
      place,
      port: isFree ? EGRESS_PORT : await findFreePort(),
    })
    const network = made ?? (await networks.find(name))
    if (network?.internal && network.labels[LABEL.owner] === owner && network.labels[LABEL.egressPort]) {
      return { network, isNew: made !== undefined }
    }
    const problem = `there is a network "${name}" that this keelson did not make.`
    throw runtimeFailures.isolation_unsupported({ runtime, problem, hint: OPT_OUT })
  }

  async function throughHelper({ name, labels }: EngineNetwork, address: string): Promise<IsolatedNetwork> {
    const port = Number(labels[LABEL.egressPort])
    await helper.join({ network: name, address })
    return {
      proxyAddress: { host: address, port },
      helper,
      peer: nextAddress(address, -1),
      proxyUrl: `http://${address}:${port}`,
      gateways: DEFAULT_GATEWAYS,
      warnings: [],
    }
  }

  async function throughGateway(
    network: EngineNetwork,
    { isNew, mayStayOpen }: { isNew: boolean; mayStayOpen: boolean },
  ): Promise<IsolatedNetwork> {
    const { name, bridge, gateway, labels } = network
    const port = Number(labels[LABEL.egressPort])
    const rule = { network: name, bridge, gateway, port }
    const problem = await firewall.apply(rule, { isNew })
    // The rules could be set a moment ago and now cannot: the server must not start without them.
    if (problem !== undefined && !mayStayOpen) {
      throw runtimeFailures.isolation_unsupported({ runtime, problem, hint: OPT_OUT })
    }
    if (problem === undefined) watchdog.add(rule)
    return {
      proxyAddress: { host: gateway, port },
      peer: nextAddress(gateway),
      proxyUrl: `http://${gateway}:${port}`,
      gateways: [gateway, ...DEFAULT_GATEWAYS],
      warnings: problem === undefined ? [] : [openHost(lacking ?? problem)],
    }
  }

  return {
    probe: async () => ({ ok: true, warnings: [] }),

    async prefetch(wait = {}) {
      if (await isElsewhere()) await image.fetch(wait)
      else if (isolation.mayBeElsewhere?.(await info.read())) await image.fetch(wait).catch(() => undefined)
      else {
        const problem = await firewallProblem()
        if (problem === undefined) return []
        return await image.fetch(wait).then(
          () => [],
          error => [openHost(`${problem}, and ${messageOf(error)}`)],
        )
      }
      return []
    },

    async prepare(instance, { workload, signal }): Promise<IsolatedNetwork> {
      const wanted = { instance, workload, signal }
      const place = await chooseLocation()
      const mayStayOpen = place === 'helper' || lacking !== undefined
      const { network, isNew } = await makeOrFind(place, wanted)
      const address = network.labels[LABEL.helper]
      if (address) return throughHelper(network, address)
      // The bridge of an engine on another host is not among this host's interfaces.
      if (isolation.activateArguments || (await isOurs(network.gateway))) {
        return throughGateway(network, { isNew, mayStayOpen })
      }
      foundElsewhere = true
      await networks.drop(network.name, instance)
      const again = await makeOrFind('helper', wanted)
      return throughHelper(again.network, again.network.labels[LABEL.helper] ?? '')
    },

    async activate(instance) {
      const args = isolation.activateArguments
      if (args) await cli.run([...args, instance], { doing: `bring up the network of "${instance}"` })
    },

    async gateways(instance) {
      const network = await networks.find(nameOf(instance)).catch(() => undefined)
      const own = network?.gateway && !network.labels[LABEL.helper] ? [network.gateway] : []
      return [...own, ...DEFAULT_GATEWAYS]
    },

    async remove(instance) {
      const name = nameOf(instance)
      const withHelper = (await isElsewhere()) || (await firewallProblem()) !== undefined
      watchdog.delete(name)
      if (withHelper) await helper.leave(name)
      await networks.drop(name, instance)
      if (!withHelper) await firewall.remove(name)
      else if (!(await networks.list()).some(({ labels }) => labels[LABEL.helper])) await helper.remove()
    },

    async list() {
      const found = await networks.list()
      const known = new Set(found.map(({ name }) => name))
      const prefix = nameOf('')
      const rules = (await firewall.list()).filter(name => name.startsWith(prefix) && !known.has(name))
      const isAlone = found.length === 0 && (await helper.exists())
      return [
        ...found.map(({ labels }) => ({
          instance: labels[LABEL.instance] ?? '',
          workload: labels[LABEL.name] ?? '',
        })),
        ...rules.map(name => ({ instance: name.slice(prefix.length), workload: name.slice(prefix.length) })),
        ...(isAlone ? [{ instance: HELPER, workload: HELPER }] : []),
      ]
    },
  }
}

/** Tries to listen there: `networkInterfaces` leaves out an interface without a carrier, such as a new bridge. */
const isOurs = (address: string): Promise<boolean> =>
  findFreePort(address).then(
    () => true,
    () => false,
  )

const openHost = (problem: string): string =>
  `services of this host that listen on all its addresses stay reachable from the server: ` +
  `no firewall rules could be set (${problem}). Run keelson as root to close this, or bind those services to 127.0.0.1.`
