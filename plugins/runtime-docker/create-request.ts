import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isMissing } from '../../src/lib/atomic-file.ts'
import type { ApiRequest } from './engine-cli.ts'
import { readId } from './engine-socket.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The parts of the body of `POST /containers/create` that arguments fill. */
interface Body {
  readonly config: Record<string, unknown>
  readonly host: Record<string, unknown>
  readonly endpoint: Record<string, unknown>
  readonly query: URLSearchParams
}

/** False for a value that only the program knows how to read. */
type Apply = (body: Body, value: string) => unknown

const push = (record: Record<string, unknown>, key: string, value: unknown) => {
  record[key] = [...((record[key] as unknown[] | undefined) ?? []), value]
}

const put = (record: Record<string, unknown>, key: string, entries: object) => {
  record[key] = { ...(record[key] as object | undefined), ...entries }
}

/** A mount without the quotes of CSV. */
const MOUNT = /^type=(bind|tmpfs)(?:,source=([^,"]+))?,target=([^,"]+)(,readonly)?$/

/** `name=value`, as labels and options are written. */
function pair(text: string): Record<string, string> {
  const at = text.indexOf('=')
  return { [text.slice(0, at)]: text.slice(at + 1) }
}

/** What each argument of `createArguments` means to docker. Its program has no other way for one that is not here. */
const MEANINGS: Readonly<Record<string, Apply>> = {
  name: ({ query }, value) => query.set('name', value),
  pull: () => undefined, // the API never pulls
  interactive: ({ config }) => Object.assign(config, { AttachStdin: true, OpenStdin: true, StdinOnce: true }),
  init: ({ host }) => Object.assign(host, { Init: true }),
  'cap-drop': ({ host }, value) => push(host, 'CapDrop', value),
  'security-opt': ({ host }, value) => push(host, 'SecurityOpt', value),
  privileged: ({ host }) => Object.assign(host, { Privileged: true }),
  memory: ({ host }, value) => Object.assign(host, { Memory: Number(value) }),
  'memory-swap': ({ host }, value) => Object.assign(host, { MemorySwap: Number(value) }),
  cpus: ({ host }, value) => Object.assign(host, { NanoCpus: Math.round(Number(value) * 1e9) }),
  'pids-limit': ({ host }, value) => Object.assign(host, { PidsLimit: Number(value) }),
  'log-opt': ({ host }, value) => put(host.LogConfig as Record<string, unknown>, 'Config', pair(value)),
  restart: ({ host }, value) => Object.assign(host, { RestartPolicy: { Name: value } }),
  network: ({ host }, value) => Object.assign(host, { NetworkMode: value }),
  ip: ({ endpoint }, value) => Object.assign(endpoint, { IPAMConfig: { IPv4Address: value } }),
  dns: ({ host }, value) => push(host, 'Dns', value),
  'dns-option': ({ host }, value) => push(host, 'DnsOptions', value),
  sysctl: ({ host }, value) => put(host, 'Sysctls', pair(value)),
  publish({ config, host }, value) {
    const [, address, hostPort = '', port = ''] = /^(.*):(\d*):(\d+\/tcp)$/.exec(value) ?? []
    if (address === undefined) return false
    put(config, 'ExposedPorts', { [port]: {} })
    const bindings = (host.PortBindings ?? {}) as Record<string, unknown>
    push(bindings, port, { HostIp: address.replace(/^\[(.*)\]$/, '$1'), HostPort: hostPort })
    host.PortBindings = bindings
  },
  mount({ host }, value) {
    const [, Type, Source, Target, readonly] = MOUNT.exec(value) ?? []
    if (Target === undefined) return false
    push(host, 'Mounts', { Type, ...(Source ? { Source } : {}), Target, ReadOnly: readonly !== undefined })
  },
  label: ({ config }, value) => put(config, 'Labels', pair(value)),
  // Their values are those of the instance's variables.
  env: () => undefined,
  'env-file': () => undefined,
}

/**
 * The request that makes the same container as `docker` with these arguments, which are those of `createArguments`.
 * Undefined where only the program knows what to make: for an argument without a meaning here, for quotes in a path, and
 * where the user's settings for the program say more than the arguments do.
 */
export function toCreateRequest(
  args: readonly string[],
  { variables, env }: { variables: Readonly<Record<string, string>>; env: Env },
): ApiRequest | undefined {
  const end = args.indexOf('--')
  const [image, ...words] = args.slice(end + 1)
  const body: Body = {
    config: { AttachStdout: true, AttachStderr: true, Image: image, Labels: {} },
    host: { LogConfig: { Type: '', Config: {} } },
    endpoint: {},
    query: new URLSearchParams(),
  }
  if (!image || args.some(argument => argument.includes('\0')) || hasSettings(env)) return undefined
  for (const argument of args.slice(1, end)) {
    const [, name = '', value = ''] = /^--([a-z-]+)(?:=(.*))?$/s.exec(argument) ?? []
    const apply = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined
    if (!apply || apply(body, value) === false) return undefined
  }
  const { config, host, endpoint, query } = body
  const network = String(host.NetworkMode)
  return {
    method: 'POST',
    path: `/containers/create?${query}`,
    body: {
      ...config,
      Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      ...(words.length ? { Cmd: words } : {}),
      HostConfig: host,
      ...(Object.keys(endpoint).length
        ? { NetworkingConfig: { EndpointsConfig: { [network]: endpoint } } }
        : {}),
    },
    print: readId,
  }
}

/** Variables with which the program chooses another image, or sends more than the arguments say. */
const CHANGING = [
  'DOCKER_DEFAULT_PLATFORM',
  'DOCKER_CONTENT_TRUST',
  'DOCKER_CUSTOM_HEADERS',
  'DOCKER_API_VERSION',
]

/** Whether the user has told the program to add something to each container, e.g. the proxies of its config file. */
function hasSettings(env: Env): boolean {
  if (CHANGING.some(name => env[name])) return true
  const file = join(env.DOCKER_CONFIG || join(env.HOME || homedir(), '.docker'), 'config.json')
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof found !== 'object' || found === null || 'proxies' in found || 'HttpHeaders' in found
  } catch (error) {
    return !isMissing(error)
  }
}
