import { lookup } from 'node:dns/promises'
import type { Log } from '../../../src/log.ts'
import { compilePolicy, type Egress } from '../../egress/index.ts'

/** An egress proxy that reaches package registries only, open while packages are installed. */
export interface RegistryProxy {
  /** Address of the proxy, if it listens on the host's loopback. */
  readonly url: string | undefined
  /** Destinations that were refused, as `host:port`. */
  readonly denied: ReadonlySet<string>
  close(): Promise<void>
}

/** Hosts that public registries serve their files from. */
const FILE_HOSTS: Readonly<Record<string, readonly string[]>> = {
  'npm.pkg.github.com': ['pkg-npm.githubusercontent.com'],
  'pypi.org': ['files.pythonhosted.org'],
  'test.pypi.org': ['test-files.pythonhosted.org'],
  'download.pytorch.org': ['download-r2.pytorch.org'],
  'proxy.golang.org': ['storage.googleapis.com', 'sum.golang.org'],
}

/**
 * Opens an egress proxy that allows registries only.
 *
 * @param path the socket to listen on; absent: a free loopback port, for tools outside a sandbox
 */
export async function openRegistryProxy(options: {
  registries: readonly string[]
  path: string | undefined
  egress: Pick<Egress, 'createProxy'>
  log: Log
}): Promise<RegistryProxy> {
  const { registries, path, egress, log } = options
  const denied = new Set<string>()
  const proxy = egress.createProxy({
    log: quiet(log),
    onDecision({ allowed, rule, host, port }) {
      if (!allowed && rule !== 'unresolvable') denied.add(`${host}:${port}`)
    },
  })
  const listener = await proxy.open({
    workload: 'installation',
    policy: await policyFor(registries),
    listen: path === undefined ? { host: '127.0.0.1', port: 0 } : { path },
  })
  return {
    url: 'path' in listener.listen ? undefined : `http://${listener.listen.host}:${listener.listen.port}`,
    denied,
    close: () => proxy.close(),
  }
}

/** The user chose the registries, so their addresses are allowed even if they are private. */
async function policyFor(registries: readonly string[]) {
  const urls = registries.map(registry => new URL(registry))
  const hosts = urls.flatMap(({ hostname }) => [hostname, ...(FILE_HOSTS[hostname] ?? [])])
  const found = await Promise.all(hosts.map(host => lookup(bare(host), { all: true }).catch(() => [])))
  const addresses = found.flat().map(({ address }) => address)
  const ports = urls.map(({ port, protocol }) => Number(port) || (protocol === 'http:' ? 80 : 443))
  return compilePolicy({
    network: {
      outbound: {
        allow_host: [...new Set([...hosts.map(bare), ...addresses])],
        allow_port: [...new Set(ports)],
      },
    },
  })
}

const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** Logs denials as debug lines: the failure that a denial leads to names the host. */
function quiet(log: Log): Log {
  return { ...log, warn: log.debug, with: fields => quiet(log.with(fields)) }
}
