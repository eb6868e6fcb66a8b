import { messageOf } from '../../../src/errors.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import type { RedisAccess, RedisTls } from '../../../src/redis/connect-redis.ts'
import { parseRedisAddress, type RedisAddress } from '../../../src/redis/redis-address.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { failures } from './failures.ts'

type Text = string | undefined

interface TlsConfig {
  readonly ca_cert_file?: Text
  readonly insecure_skip_verify?: boolean | undefined
}

/** `redis_config` of the storage. */
export interface RedisConfig {
  readonly addr?: Text
  readonly auth_type?: Text
  readonly acl_user_config?:
    | { readonly password_env_var?: Text; readonly username_env_var?: Text }
    | undefined
  readonly cluster_mode?: boolean | undefined
  readonly dial_timeout?: Text
  readonly read_timeout?: Text
  readonly write_timeout?: Text
  readonly key_prefix?: Text
  readonly sentinel_config?:
    | {
        readonly db?: number | undefined
        readonly master_name?: Text
        readonly sentinel_addrs?: readonly string[] | undefined
      }
    | undefined
  readonly tls?: TlsConfig | undefined
  readonly sentinel_tls?: TlsConfig | undefined
}

/** Where Redis is and how to get in, checked and complete. */
export interface RedisSettings extends RedisAccess {
  readonly keyPrefix: string
}

const PORT = 6379
const SENTINEL_PORT = 26_379
const LONGEST_MS = 60_000

const wrong = (problem: string) => failures.auth_store_config_invalid({ problem })

/** Checks the configuration without reading files and variables. Fails with `auth_store_config_invalid`. */
export function checkRedisConfig(config: RedisConfig | undefined): void {
  if (!config) throw wrong('redis_config is missing')
  const { sentinel_config: sentinel, auth_type: kind, acl_user_config: user } = config
  if (config.cluster_mode) throw wrong('cluster_mode is not supported')
  if (kind && kind !== 'aclUser') throw wrong(`auth_type is "${kind}"; the only one is aclUser`)
  if (kind && !user?.password_env_var) throw wrong('auth_type aclUser needs acl_user_config.password_env_var')
  if (sentinel && config.addr) throw wrong('addr and sentinel_config do not go together')
  if (sentinel && !sentinel.master_name) throw wrong('sentinel_config.master_name is missing')
  if (sentinel && !sentinel.sentinel_addrs?.length) throw wrong('sentinel_config.sentinel_addrs is empty')
  const { db = 0 } = sentinel ?? {}
  if (!Number.isInteger(db) || db < 0) throw wrong(`sentinel_config.db is ${db}`)
  serversOf(config)
  for (const name of ['dial_timeout', 'read_timeout', 'write_timeout'] as const) timeout(config, name, 0)
}

/** Fails with `auth_store_config_invalid`. `name` is the workload's. */
export async function readRedisSettings(
  config: RedisConfig,
  { name, env }: { readonly name: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<RedisSettings> {
  checkRedisConfig(config)
  const { acl_user_config: user, sentinel_config: sentinel } = config
  const read = timeout(config, 'read_timeout', 3000)
  const write = timeout(config, 'write_timeout', 3000)
  return {
    servers: serversOf(config),
    primary: sentinel?.master_name,
    database: sentinel?.db ?? 0,
    username: variable(user?.username_env_var, env),
    password: variable(user?.password_env_var, env),
    tls: await readTls(config.tls),
    sentinelTls: await readTls(config.sentinel_tls),
    // The braces keep all keys of a workload together where Redis is divided by keys.
    keyPrefix: config.key_prefix || `keelson:auth:{${name}}:`,
    dialMs: timeout(config, 'dial_timeout', 5000),
    operationMs: Math.max(read, write),
  }
}

function serversOf({ addr, sentinel_config: sentinel }: RedisConfig): RedisSettings['servers'] {
  const [first, ...others] = sentinel
    ? (sentinel.sentinel_addrs ?? []).map(text => parseAddress(text, SENTINEL_PORT))
    : [parseAddress(addr ?? '', PORT)]
  if (!first) throw wrong('redis_config names no server')
  return [first, ...others]
}

function parseAddress(text: string, usualPort: number): RedisAddress {
  const address = parseRedisAddress(text, usualPort)
  if (!address) throw wrong(`"${text}" is not HOST:PORT`)
  return address
}

function timeout(
  config: RedisConfig,
  member: 'dial_timeout' | 'read_timeout' | 'write_timeout',
  usual: number,
): number {
  const { [member]: text } = config
  if (!text) return usual
  const ms = parseDuration(text)
  if (ms === undefined || ms <= 0 || ms > LONGEST_MS) {
    throw wrong(`${member} is "${text}"; it takes a duration such as 3s, at most 1m`)
  }
  return ms
}

function variable(name: Text, env: Readonly<Record<string, string | undefined>>): Text {
  if (!name) return undefined
  const { [name]: value } = env
  if (!value) throw wrong(`the environment variable ${name} is not set`)
  return value
}

async function readTls(config: TlsConfig | undefined): Promise<RedisTls | undefined> {
  if (!config) return undefined
  const { ca_cert_file: path, insecure_skip_verify: isUnchecked = false } = config
  if (!path) return { isUnchecked }
  try {
    return { ca: await readUserFile(path, 'The ca_cert_file'), isUnchecked }
  } catch (error) {
    throw wrong(messageOf(error))
  }
}
