import { readCaBundle } from '../../src/ca-bundle.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { RedisAccess } from '../../src/redis/connect-redis.ts'
import { parseRedisAddress } from '../../src/redis/redis-address.ts'

const DIAL_MS = 5000
/** Longer than a busy machine keeps a process from reading what has arrived. */
const OPERATION_MS = 5000

/** Reads `HOST:PORT`, or `rediss://HOST:PORT` where it speaks TLS. */
export function parseLimitRedis(text: string) {
  const [, scheme, address = ''] = /^(rediss?:\/\/)?(.*)$/s.exec(text) ?? []
  const server = parseRedisAddress(address)
  return server && { server, isTls: scheme === 'rediss://' }
}

/** How Redis is reached. Its password and user are in the environment. */
export async function readRedisAccess(
  { address, db }: { address: string; db: number },
  { svc_ca_bundle }: RunConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RedisAccess> {
  const parsed = parseLimitRedis(address)
  if (!parsed) throw new Error(`the section has let an address through: ${address}`)
  const ca = parsed.isTls ? await readCaBundle(svc_ca_bundle) : undefined
  return {
    servers: [parsed.server],
    primary: undefined,
    database: db,
    username: env.KEELSON_SESSION_REDIS_USERNAME || undefined,
    password: env.KEELSON_SESSION_REDIS_PASSWORD || undefined,
    tls: parsed.isTls ? { ca, isUnchecked: false } : undefined,
    sentinelTls: undefined,
    dialMs: DIAL_MS,
    operationMs: OPERATION_MS,
  }
}
