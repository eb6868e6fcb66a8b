import type { RunConfig } from '../../src/contracts/run-config.ts'
import { limitRedisOf, rateLimitOf, type TokenBucket } from './section.ts'

/** What the limits are, in few words for the user. */
export function describeLimits(config: RunConfig): string {
  const { shared, perUser, tools, ...said } = rateLimitOf(config) ?? {}
  const { maxConcurrentCalls, maxConcurrentCallsPerUser, callTimeout } = said
  const redis = limitRedisOf(config)
  return [
    ...(shared ? [`${toRate(shared)} for all`] : []),
    ...(perUser ? [`${toRate(perUser)} for each user`] : []),
    ...(tools?.length ? [`${tools.length === 1 ? '1 tool' : `${tools.length} tools`} with own rates`] : []),
    ...(maxConcurrentCalls ? [`${maxConcurrentCalls} calls at once`] : []),
    ...(maxConcurrentCallsPerUser ? [`${maxConcurrentCallsPerUser} at once for each user`] : []),
    ...(callTimeout ? [`calls end after ${callTimeout}`] : []),
    ...(redis ? [`kept in Redis ${redis.address}`] : []),
  ].join('; ')
}

const toRate = ({ maxTokens, refillPeriod }: TokenBucket): string => `${maxTokens} calls/${refillPeriod}`
