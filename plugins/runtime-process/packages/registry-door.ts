import { lookup } from 'node:dns/promises'
import type { Log } from '../../../src/log.ts'
import { compilePolicy, type Egress } from '../../egress/index.ts'

/** The way to some registries and to nowhere else, open while packages are installed. */
export interface RegistryDoor {
  /** Address of the proxy, where it listens on this host itself. */
  readonly url: string | undefined
  /** Where the tool wanted to go and was not let: `host:port`. */
  readonly denied: ReadonlySet<string>
  close(): Promise<void>
}

/** Hosts from which public registries serve the files that they name. */
const FILE_HOSTS: Readonly<Record<string, readonly string[]>> = {
  'npm.pkg.github.com': ['pkg-npm.githubusercontent.com'],
  'pypi.org': ['files.pythonhosted.org'],
  'test.pypi.org': ['test-files.pythonhosted.org'],
  'download.pytorch.org': ['download-r2.pytorch.org'],
  'proxy.golang.org': ['storage.googleapis.com', 'sum.golang.org'],
}

/**
 * Opens an egress proxy that lets through to registries.
 *
 * @param path the socket that it listens at; absent: a free port of the loopback, for tools outside a sandbox
 */
export async function openRegistryDoor(options: {
  registries: readonly string[]
  path: string | undefined
  egress: Pick<Egress, 'createProxy'>
  log: Log
}): Promise<RegistryDoor> {
  const { registries, path, egress, log } = options
  const denied = new Set<string>()
  const proxy = egress.createProxy({
    log: quiet(log),
    onDecision({ allowed, rule, host, port }) {
      if (!allowed && rule !== 'unresolvable') denied.add(`${host}:${port}`)
    },
  })
  const door = await proxy.open({
    workload: 'installation',
    policy: await policyFor(registries),
    listen: path === undefined ? { host: '127.0.0.1', port: 0 } : { path },
  })
  return {
    url: 'path' in door.listen ? undefined : `http://${door.listen.host}:${door.listen.port}`,
    denied,
    close: () => proxy.close(),
  }
}

/** The user chose the registries, so their addresses are allowed wherever they are, private ones too. */
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

/** A denial is told with the failure that it leads to, and does not end any other installation. */
function quiet(log: Log): Log {
  return { ...log, warn: log.debug, with: fields => quiet(log.with(fields)) }
}
