import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import type { Buckets } from './buckets/buckets.ts'
import { createMemoryBuckets } from './buckets/memory-buckets.ts'
import { limitRedisOf, rateLimitOf } from './section.ts'

/** Opens the buckets of a workload, in Redis or in this process. Fails with `limit_redis_unavailable`. */
export async function openBuckets(
  config: RunConfig,
  { log, env }: { log: Log; env: Readonly<Record<string, string | undefined>> },
): Promise<Buckets> {
  const redis = limitRedisOf(config)
  if (!redis) return createMemoryBuckets()
  const [{ openRedisBuckets }, { readRedisAccess }] = await Promise.all([
    import('./buckets/redis-buckets.ts'),
    import('./redis-access.ts'),
  ])
  return openRedisBuckets(await readRedisAccess(redis, config, env), {
    address: redis.address,
    log,
    local: rateLimitOf(config)?.onError === 'refuse' ? undefined : createMemoryBuckets(),
  })
}
