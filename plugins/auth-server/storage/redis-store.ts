import { messageOf } from '../../../src/errors.ts'
import { withinTime } from '../../../src/lib/within-time.ts'
import { connectRedis, type RedisConnection } from '../../../src/redis/connect-redis.ts'
import { CAPACITY, type Capacity } from './capacity.ts'
import { failures } from './failures.ts'
import { ADD, REPLACE, TAKE } from './redis-scripts.ts'
import type { RedisSettings } from './redis-settings.ts'
import type { EntryKind, RawStore } from './store.ts'

/** How many expired entries are removed from the index when one is added. */
const STEPS = '100'

/** As bytes: base64url would take a third more. */
const ENCODING = 'latin1'

/**
 * Keeps everything in Redis, for any number of replicas. An index per kind (a sorted set) counts its entries.
 * Fails with `auth_store_unavailable` while Redis is away.
 */
export async function openRedisStore(
  settings: RedisSettings,
  { capacity = CAPACITY }: { readonly capacity?: Capacity } = {},
): Promise<RawStore> {
  const { operationMs, keyPrefix } = settings
  const store = `Redis at ${settings.servers.map(({ host, port }) => `${host}:${port}`).join(', ')}`
  const unavailable = (problem: string, cause?: unknown) =>
    failures.auth_store_unavailable({ store, problem }, { cause })
  let lastProblem: unknown
  const redis = await connectRedis(settings, {
    onError: error => {
      lastProblem = error
    },
  }).catch((error: unknown) => {
    throw unavailable(messageOf(lastProblem ?? error), error)
  })

  async function ask<T>(operation: (redis: RedisConnection) => Promise<T>): Promise<T> {
    const late = () => unavailable(`it did not respond within ${operationMs / 1000} seconds`)
    const asked = operation(redis).catch((error: unknown) => {
      throw unavailable(messageOf(error), error)
    })
    return withinTime(asked, { ms: operationMs, late, signal: undefined })
  }

  const entryKey = (kind: EntryKind, key: string) => `${keyPrefix}${kind}:${key}`
  const indexKey = (kind: EntryKind) => `${keyPrefix}index:${kind}`

  function take(kind: EntryKind, key: string): Promise<unknown> {
    const keys = [entryKey(kind, key), indexKey(kind)]
    return ask(redis => redis.eval(TAKE, { keys, arguments: [key] }))
  }

  return {
    encoding: ENCODING,
    async add(kind, key, value, lifetimeMs) {
      const keys = [entryKey(kind, key), indexKey(kind)]
      const words = [key, toBytes(value), toLifetime(lifetimeMs), String(capacity[kind]), STEPS]
      return (await ask(redis => redis.eval(ADD, { keys, arguments: words }))) === 1
    },
    get: async (kind, key) => (await ask(redis => redis.get(entryKey(kind, key))))?.toString(ENCODING),
    async replace(kind, key, expected, value, lifetimeMs, newKey = key) {
      const keys = [entryKey(kind, key), indexKey(kind), entryKey(kind, newKey)]
      const words = [key, newKey, toBytes(expected), toBytes(value), toLifetime(lifetimeMs)]
      return (await ask(redis => redis.eval(REPLACE, { keys, arguments: words }))) === 1
    },
    async take(kind, key) {
      const value = await take(kind, key)
      return Buffer.isBuffer(value) ? value.toString(ENCODING) : undefined
    },
    async delete(kind, key) {
      await take(kind, key)
    },
    count: kind => ask(redis => redis.zCard(indexKey(kind))),
    async close() {
      redis.destroy()
    },
  }
}

const toBytes = (value: string): Buffer => Buffer.from(value, ENCODING)

const toLifetime = (ms: number): string => String(Math.max(1, Math.ceil(ms)))
