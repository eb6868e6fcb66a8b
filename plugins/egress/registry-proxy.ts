import { lookup } from 'node:dns/promises'
import type { IsolatedNetwork, ListenAddress } from '../../src/contracts/runtime.ts'
import { PUBLIC_GO, PUBLIC_PYPI } from '../../src/lib/public-registries.ts'
import type { Log } from '../../src/log.ts'
import type { Egress } from './index.ts'
import { compilePolicy } from './policy.ts'

/** A proxy to some registries only, open while packages are installed or built. */
export interface RegistryProxy {
  /** Address of the proxy, where it listens on this host itself. */
  readonly url: string | undefined
  /** The hosts that the tool was denied: `host:port`. */
  readonly denied: ReadonlySet<string>
  close(): Promise<void>
}

const hostOf = (address: string): string => new URL(address).hostname

/** Hosts from which public registries serve the files that they name. */
const FILE_HOSTS: Readonly<Record<string, readonly string[]>> = {
  'npm.pkg.github.com': ['pkg-npm.githubusercontent.com'],
  [hostOf(PUBLIC_PYPI)]: ['files.pythonhosted.org'],
  [`test.${hostOf(PUBLIC_PYPI)}`]: ['test-files.pythonhosted.org'],
  'download.pytorch.org': ['download-r2.pytorch.org'],
  [hostOf(PUBLIC_GO)]: ['storage.googleapis.com', 'sum.golang.org'],
}

export interface RegistryProxyOptions {
  /** Addresses of the registries. */
  readonly registries: readonly string[]
  /** Hosts to be reached as well, on their usual ports, as in `allow_host` of a permission profile. */
  readonly hosts?: readonly string[]
  readonly listen: ListenAddress
  /** Present when the tool runs in a network of its own: its address, where the proxy runs, and how it sees this host. */
  readonly isolatedNetwork?: Pick<IsolatedNetwork, 'peer' | 'helper' | 'gateways'>
  readonly log: Log
}

/** Opens an egress proxy that allows only registries. Fails with `egress_listener_unusable`. */
export async function openRegistryProxy(
  { createProxy }: Pick<Egress, 'createProxy'>,
  options: RegistryProxyOptions,
): Promise<RegistryProxy> {
  const { registries, hosts = [], listen, isolatedNetwork, log } = options
  const denied = new Set<string>()
  const proxy = createProxy({
    log: quiet(log),
    onDecision({ allowed, rule, host, port }) {
      if (!allowed && rule !== 'unresolvable') denied.add(`${host}:${port}`)
    },
  })
  const listener = await proxy.open({
    workload: 'installation',
    policy: await policyFor(registries, hosts, isolatedNetwork?.gateways),
    listen,
    peer: isolatedNetwork?.peer,
    helper: isolatedNetwork?.helper,
  })
  return {
    url: 'path' in listener.listen ? undefined : `http://${listener.listen.host}:${listener.listen.port}`,
    denied,
    close: () => proxy.close(),
  }
}

/** The user chose the registries, so their addresses are allowed wherever they are, private ones too. */
async function policyFor(
  registries: readonly string[],
  others: readonly string[],
  gateways: readonly string[] = [],
) {
  const urls = registries.map(registry => new URL(registry))
  const hosts = urls.flatMap(({ hostname }) => [hostname, ...(FILE_HOSTS[hostname] ?? [])])
  const found = await Promise.all(hosts.map(host => lookup(bare(host), { all: true }).catch(() => [])))
  const addresses = found.flat().map(({ address }) => address)
  const ports = urls.map(({ port, protocol }) => Number(port) || (protocol === 'http:' ? 80 : 443))
  const outbound = {
    allow_host: [...new Set([...hosts.map(bare), ...addresses, ...others])],
    allow_port: [...new Set([...ports, ...(others.length > 0 ? [80, 443] : [])])],
  }
  return compilePolicy({ network: { outbound } }, { gateways })
}

const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** A denial is told with the failure that it leads to, and does not end any other installation. */
function quiet(log: Log): Log {
  return { ...log, warn: log.debug, with: fields => quiet(log.with(fields)) }
}
