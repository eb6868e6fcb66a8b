import { resolve } from 'node:path'
import { failures } from './failures.ts'

export interface SshArgs {
  /** `user@host`, or a name of the user's ssh configuration. */
  readonly destination: string
  /** Where the server listens; 0: it chooses. */
  readonly remotePort: number
  /** The address there; absent: as the server's `GatewayPorts` says, which is loopback unless changed. */
  readonly bindAddress: string | undefined
  /** Where the ssh server listens. */
  readonly port: number | undefined
  readonly identityFile: string | undefined
  readonly knownHostsFile: string | undefined
  /** What clients connect to, where something before the server listens for them. */
  readonly url: string | undefined
}

const wrong = (problem: string) => failures.ssh_args_wrong({ problem })

const MEMBERS = new Set([
  'destination',
  'remote-port',
  'bind-address',
  'port',
  'identity-file',
  'known-hosts-file',
  'url',
])

/** Fails with `ssh_args_wrong`. What begins with a dash would be read as an option of ssh. */
export function readSshArgs(args: Readonly<Record<string, unknown>>): SshArgs {
  const unknown = Object.keys(args).find(name => !MEMBERS.has(name))
  if (unknown !== undefined) throw wrong(`there is no member ${JSON.stringify(unknown)}`)
  const text = (name: string, pattern: RegExp): string | undefined => {
    const value = args[name]
    if (value === undefined) return undefined
    if (typeof value === 'string' && pattern.test(value)) return value
    throw wrong(`"${name}" is not valid`)
  }
  const number = (name: string, min: number): number | undefined => {
    const value = args[name]
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= 65535) return value
    throw wrong(`"${name}" is a port from ${min} to 65535`)
  }
  const file = (name: string): string | undefined => {
    const value = text(name, /^[^\0\n]+$/)
    return value === undefined ? undefined : resolve(value)
  }
  const destination = text('destination', /^[A-Za-z0-9_][A-Za-z0-9_.@:[\]%-]*$/)
  if (destination === undefined) throw wrong('"destination" is missing, e.g. "me@example.com"')
  const url = text('url', /^https?:\/\//)
  if (url !== undefined && !URL.canParse(url)) throw wrong('"url" is not valid')
  return {
    destination,
    remotePort: number('remote-port', 0) ?? 0,
    bindAddress: text('bind-address', /^(\*|[A-Za-z0-9.:-]+)$/),
    port: number('port', 1),
    identityFile: file('identity-file'),
    knownHostsFile: file('known-hosts-file'),
    url,
  }
}
