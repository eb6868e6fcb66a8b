import type { Preparation } from '../../src/contracts/preparation.ts'
import { failures } from './failures.ts'
import { limitRedisOf } from './section.ts'

/**
 * A run config of a file may be a stranger's. The Redis that it names gets a password of ours, so the person has to
 * name it, too. Fails with `limit_redis_unconfirmed`.
 */
export const rateLimitPreparation = (): Preparation => ({
  async complete(config, { options }) {
    const redis = limitRedisOf(config)
    if (!redis || options['from-config'] === undefined || options['rate-limit-redis'] === redis.address) {
      return config
    }
    throw failures.limit_redis_unconfirmed(redis)
  },
})
