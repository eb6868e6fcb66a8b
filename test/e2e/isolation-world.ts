import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { withHelpers } from '../../plugins/egress/helper/with-helpers.ts'
import { connectTo } from '../../plugins/egress/proxy/dial.ts'
import { createEgressProxy } from '../../plugins/egress/proxy/egress-proxy.ts'
import { createHiddenFiles } from '../../plugins/hidden-files/service.ts'
import { createProxies } from '../../plugins/proxy/service.ts'
import { createContainerRuntime, ownerOf } from '../../plugins/runtime-docker/container-runtime.ts'
import { dockerDialect } from '../../plugins/runtime-docker/docker-dialect.ts'
import { podmanDialect } from '../../plugins/runtime-podman/podman-dialect.ts'
import { findBubblewrap } from '../../plugins/runtime-process/find-bubblewrap.ts'
import { createProcessRuntime } from '../../plugins/runtime-process/process-runtime.ts'
import { createWorkloadStore, type WorkloadStore } from '../../plugins/state/workload-store.ts'
import { createWorkloadHost, type WorkloadHost } from '../../plugins/supervisor/host/workload-host.ts'
import { createLeases } from '../../plugins/supervisor/leases.ts'
import { createApp } from '../../src/app.ts'
import { instanceName, type PermissionProfile, type RunConfig } from '../../src/contracts/run-config.ts'
import type { Runtime } from '../../src/contracts/runtime.ts'
import { createLog } from '../../src/log.ts'
import { createOwnAddresses } from '../../src/net/own-addresses.ts'
import { findPaths } from '../../src/paths.ts'
import { CALLERS } from '../support/callers-entries.ts'
import { freePort } from '../support/free-port.ts'
import type { Outside } from './elsewhere/outside.ts'
import type { Place } from './places-to-run.ts'

const fixture = new URL('../../fixtures/isolation', import.meta.url).pathname

/** A host with a real runtime and a real egress proxy, in a home of its own, and what it may not reach. */
export interface IsolationWorld {
  readonly place: Place
  /** The one place that profiles allow. */
  readonly allowed: { readonly host: string; readonly port: number }
  readonly runtime: Runtime
  readonly host: WorkloadHost
  readonly store: WorkloadStore
  /** Addresses that the egress proxy has connected to since `forget`. */
  readonly dialled: string[]
  /** Names that the egress proxy of this host has looked up. */
  readonly asked: string[]
  /** What the name server answers. */
  setNames(names: Names): Promise<void>
  /** Lines of the workloads' logs. */
  readonly lines: Record<string, unknown>[]
  /** A web server on loopback of this host. */
  readonly web: { readonly port: number; readonly seen: string[] }
  /** Present where the engine's networks are not networks of this host. */
  readonly elsewhere?: Elsewhere
  /** Services of this host on all of its addresses, which nobody inside may reach: what they have seen. */
  readonly services: { readonly tcp: number; readonly dns: number; readonly seen: string[] }
  /** An address of this host that is not the one of a bridge. */
  readonly hostAddress: string
  forget(): Promise<void>
  /** Writes a run config for the fixture; answers the URL for clients. */
  save(name: string, profile: PermissionProfile | undefined, more?: Partial<RunConfig>): Promise<string>
  /** The same, and starts it. */
  run: IsolationWorld['save']
  /** Asks the engine's program about this installation's helper container. */
  helper(...command: string[]): string
  /** Another host over the same disk, as after the death of the first. */
  nextHost(): WorkloadHost
  /** Networks, firewall rules and files of the isolated networks of this installation. */
  remains(): Promise<string[]>
  close(): Promise<void>
}

type Names = Readonly<Record<string, readonly (readonly string[])[]>>

/** An engine whose networks are not networks of this host. */
export interface Elsewhere {
  /** By which its program finds it. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly outside: Outside
  /** Lets it read a folder of the tests'. */
  share?(folder: string): void
  close(): Promise<void>
}

export async function isolationWorld(place: Place, elsewhere?: Elsewhere): Promise<IsolationWorld> {
  const home = await mkdtemp(join(tmpdir(), 'ki-'))
  const paths = findPaths({ HOME: home }, 'linux')
  const lines: Record<string, unknown>[] = []
  const log = createLog({ write: line => lines.push(JSON.parse(line)), human: false, debug: true })
  const store = createWorkloadStore({ paths, log })
  const app = createApp({ paths, log, env: process.env, entries: CALLERS })
  const runtime = runtimeOf(place, paths, elsewhere?.env ?? process.env)
  let names: Names = {}
  const dialled: string[] = []
  const asked: string[] = []
  const times = new Map<string, number>()
  const web = await webServer()
  const services = await hostServices()
  const hosts: WorkloadHost[] = []

  const dial: typeof connectTo = (address, port, onread) => {
    dialled.push(`${address}:${port}`)
    return connectTo(address, port, onread)
  }
  const resolve = async (name: string) => {
    asked.push(name)
    const answers = names[name] ?? []
    const time = times.get(name) ?? 0
    times.set(name, time + 1)
    return answers[Math.min(time, answers.length - 1)] ?? []
  }
  const makeHost = () => {
    const host = createWorkloadHost({
      store,
      runtimes: { get: async () => runtime, all: async () => [runtime] },
      proxies: createProxies(app),
      egress: withHelpers(createEgressProxy({ log, connect: dial, resolve }), {
        log,
        ownAddresses: createOwnAddresses(),
        program: () => elsewhere?.outside.program() ?? Promise.reject(new Error('nothing is elsewhere')),
        onDecision({ allowed, addresses, port }) {
          if (allowed) dialled.push(...addresses.map(address => `${address}:${port}`))
        },
      }),
      leases: createLeases({ folder: join(paths.runtime, 'leases') }),
      log,
      logOf: config => log.with({ workload: config.name }),
      findHidden: (config, mounts) => createHiddenFiles({ paths }).find(config, mounts),
    })
    hosts.push(host)
    return host
  }

  const world: IsolationWorld = {
    place,
    allowed: elsewhere?.outside ?? { host: '127.0.0.1', port: web.port },
    ...(elsewhere ? { elsewhere } : {}),
    runtime,
    host: makeHost(),
    store,
    dialled,
    asked,
    async setNames(next) {
      names = next
      await elsewhere?.outside.setNames(next)
    },
    lines,
    web,
    services,
    hostAddress:
      Object.entries(networkInterfaces())
        .filter(([name]) => /^(?:e|w)/.test(name))
        .flatMap(([, list]) => list ?? [])
        .find(({ family }) => family === 'IPv4')?.address ?? '127.0.0.1',
    async forget() {
      dialled.length = 0
      asked.length = 0
      web.seen.length = 0
      services.seen.length = 0
      times.clear()
      await elsewhere?.outside.forget()
    },
    async save(name, profile, more = {}) {
      const port = await freePort()
      await store.configs.save({
        schema_version: 'v0.1.0',
        name,
        container_name: name,
        runtime: place,
        ...programOf(place),
        transport: 'streamable-http',
        port,
        target_port: await freePort(),
        isolate_network: true,
        ...(profile ? { permission_profile: profile } : {}),
        ...more,
        volumes: [...(place === 'process' ? [] : [`${fixture}:/srv:ro`]), ...(more.volumes ?? [])],
      })
      return `http://127.0.0.1:${port}/mcp`
    },
    async run(name, profile, more) {
      const url = await world.save(name, profile, more)
      await world.host.start(name)
      return url
    },
    helper(...command) {
      const args = [...command, `keelson-${ownerOf(paths.data).slice(0, 8)}-_egress`]
      return spawnSync(place, args, {
        encoding: 'utf8',
        env: { ...(elsewhere?.env ?? process.env) },
      }).stdout.trim()
    },
    nextHost: makeHost,
    async remains() {
      const rules = spawnSync('iptables', ['-t', 'mangle', '-S'], { encoding: 'utf8' }).stdout ?? ''
      const owner = ownerOf(paths.data)
      return [
        ...((await runtime.isolation?.list()) ?? []).map(({ instance }) => `network of ${instance}`),
        ...rules.split('\n').filter(rule => rule.includes(owner)),
        ...(existsSync(join(paths.runtime, 'net'))
          ? spawnSync('ls', [join(paths.runtime, 'net')], { encoding: 'utf8' })
              .stdout.split('\n')
              .filter(Boolean)
          : []),
      ]
    },
    async close() {
      await Promise.all(hosts.map(host => host.close({ handover: true }))) // or they would bring back what is removed
      for (const config of await store.configs.list()) {
        await runtime.remove(instanceName(config))
        await runtime.isolation?.remove(instanceName(config))
      }
      await elsewhere?.close()
      web.server.close()
      services.close()
      await rm(home, { recursive: true, force: true })
    },
  }
  return world
}

function runtimeOf(
  place: Place,
  paths: ReturnType<typeof findPaths>,
  env: Readonly<Record<string, string | undefined>>,
): Runtime {
  if (place === 'process') {
    return createProcessRuntime({
      folder: join(paths.data, 'processes'),
      sockets: join(paths.runtime, 'net'),
      packages: {
        install: async () => ({ image: 'npx://isolation@1.0.0', version: '1.0.0' }),
        resolve: async () => ({
          folder: fixture,
          command: [process.execPath, join(fixture, 'server.mjs')],
          needs: [dirname(process.execPath)],
        }),
      },
      bubblewrap: () => findBubblewrap(process.env.PATH ?? ''),
      path: process.env.PATH ?? '',
    })
  }
  return createContainerRuntime({
    dialect: place === 'docker' ? dockerDialect : podmanDialect,
    owner: ownerOf(paths.data),
    env: { ...env, KEELSON_HELPER_IMAGE: 'keelson-test/node:24' },
    folder: paths.runtime,
  })
}

const programOf = (place: Place): Pick<RunConfig, 'image' | 'cmd_args'> =>
  place === 'process'
    ? { image: 'npx://isolation@1.0.0' }
    : { image: 'keelson-test/node:24', cmd_args: ['node', '/srv/server.mjs'] }

/** The one place that profiles allow, on loopback: nothing leads there but the egress proxy. */
async function webServer() {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    request.resume()
    response.end('hello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, seen, server }
}

/** A TCP service and a name server on all addresses, IPv6 too. */
async function hostServices() {
  const seen: string[] = []
  const tcp = createTcpServer(socket => {
    seen.push(`tcp from ${socket.remoteAddress}`)
    socket.on('error', () => undefined).end('a service of the host')
  })
  tcp.listen(0, '::')
  await once(tcp, 'listening')
  const dns = createSocket({ type: 'udp6', ipv6Only: false })
  dns.on('message', (query, from) => {
    seen.push(`dns from ${from.address}: ${query.toString('latin1')}`)
    dns.send(query, from.port, from.address)
  })
  dns.bind(0, '::')
  await once(dns, 'listening')
  return {
    tcp: (tcp.address() as AddressInfo).port,
    dns: dns.address().port,
    seen,
    close() {
      tcp.close()
      dns.close()
    },
  }
}

/** Link-local IPv6 addresses of this host's bridges: each link has one. */
export const linkLocals = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(({ family, address }) => family === 'IPv6' && address.startsWith('fe80'))
    .map(({ address }) => address)
