import type { ProxyMode } from '../../src/contracts/run-config.ts'
import { CALLER_TOKEN_HEADER } from '../../src/http/caller-token-header.ts'
import { isObject, nest, type Value } from './formats/format.ts'
import type { ClientSpec } from './known-clients.ts'
import type { Program } from './program-in-use.ts'

/** A running workload as clients reach it. */
export interface Server {
  readonly name: string
  readonly url: string
  readonly mode: ProxyMode
  /** The caller token that the proxy asks for; undefined when it asks for none. */
  readonly token?: string | undefined
  /** How a client that cannot speak HTTP starts keelson. */
  readonly program: Program
  /** Variables that say where keelson has its files. Such clients pass on few of their own. */
  readonly folders: Readonly<Record<string, string>>
}

/** The header that brings the caller token, as a path below an entry. */
export const tokenPath = (client: ClientSpec): readonly [string, ...string[]] => {
  const [first = 'headers', ...rest] = client.headers ?? []
  return [first, ...rest, CALLER_TOKEN_HEADER]
}

/** What a client's file says about a server. */
export function toEntry(client: ClientSpec, server: Server): Record<string, Value> {
  const { name, token } = server
  const named = client.shape === 'list' ? { name } : {}
  const defaults = Object.entries(client.defaults ?? {}).map(([key, value]) => [
    key,
    value === '$name' ? name : value,
  ])
  const [first, ...rest] = tokenPath(client)
  const headers = token === undefined || !client.url ? {} : { [first]: nest(rest, token) }
  return { ...named, ...leadingMembers(client, server), ...Object.fromEntries(defaults), ...headers }
}

/** The members of an entry by which its client reaches the server. */
function leadingMembers({ url, type }: ClientSpec, server: Server): Record<string, Value> {
  if (url) return { [url[server.mode]]: server.url, ...(type ? { [type.key]: type[server.mode] } : {}) }
  const [command, ...args] = commandFor(server)
  const { folders } = server
  return { command, args, ...(Object.keys(folders).length ? { env: folders } : {}) }
}

const commandFor = ({ program: [node, script], name }: Server) =>
  [node, script, 'proxy', 'stdio', name] as const

/** Every member that may lead to a server in this client's entries. */
export function leadingNames({ url, type }: ClientSpec): ReadonlySet<string> {
  if (!url) return new Set(['command', 'args'])
  return new Set([url['streamable-http'], url.sse, ...(type ? [type.key] : [])])
}

/** What the entry of a server leads to: the URL; of a client that starts programs, the command line as JSON. */
export const addressOf = (client: ClientSpec, server: Server): string =>
  client.url ? server.url : JSON.stringify(commandFor(server))

/** What an entry leads to, as `addressOf` writes it; undefined when there is no such entry. */
export function addressIn(client: ClientSpec, entry: unknown): string | undefined {
  if (!isObject(entry)) return undefined
  if (!client.url) return entry.command === undefined ? undefined : commandLine(entry)
  const fields = [client.url['streamable-http'], client.url.sse]
  return fields.map(field => entry[field]).find(value => typeof value === 'string')
}

const commandLine = ({ command, args }: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([command, ...(Array.isArray(args) ? args : [])])

/** The program that an address of ours starts; undefined for a URL. */
export function programIn(address: string): Program | undefined {
  try {
    const [node, script] = JSON.parse(address) as readonly unknown[]
    return typeof node === 'string' && typeof script === 'string' ? [node, script] : undefined
  } catch {
    return undefined
  }
}
