import type { RunConfig } from '../../src/contracts/run-config.ts'
import { unenforcedFailures } from '../../src/contracts/unenforced-failures.ts'
import { failures as core } from '../../src/errors.ts'
import { parseDuration } from '../../src/lib/duration.ts'
import type { Schema } from '../../src/lib/schema.ts'
import { toTextCheck } from '../../src/lib/text-schema.ts'
import { parseLimitRedis } from './redis-access.ts'
import type { RateLimitConfig } from './section.ts'
import { toBucketLimit } from './to-bucket-limit.ts'
import { isWithin, within } from './whole-number.ts'

const MOST_TOOLS = 1000
/** 0 stands for no limit. */
export const callCount = within(0, 1_000_000)
export const toolName: Schema<string> = { type: 'string', minLength: 1, maxLength: 1000 }
const isToolName = toTextCheck(toolName)
const LONGEST_CALL_MS = 24 * 3_600_000

const wrong = (problem: string) => core.usage({ text: `rate_limit_config: ${problem}.` })

/** Checks what schemas cannot say of limits. Fails with `usage` and `section_unenforced`. */
export function checkRateLimit(said: RateLimitConfig, config: RunConfig): void {
  checkBuckets(said, '')
  checkTools(said.tools ?? [])
  checkConcurrent(said)
  if (said.callTimeout) {
    const ms = parseDuration(said.callTimeout)
    if (ms === undefined || ms < 1 || ms > LONGEST_CALL_MS) {
      throw wrong(
        `callTimeout (--call-timeout) is a duration such as 30s, from 1ms to 24h, not "${said.callTimeout}"`,
      )
    }
  }
  const isOfCalls = said.maxConcurrentCalls || said.maxConcurrentCallsPerUser || said.callTimeout
  if (config.transport === 'sse' && isOfCalls) {
    throw wrong(
      'calls in flight and their time cannot be limited for --transport sse, where nothing says when a call ends',
    )
  }
  checkRedis(said, config)
}

const CONCURRENT = {
  maxConcurrentCalls: 'maxConcurrentCalls (--max-concurrent-calls)',
  maxConcurrentCallsPerUser: 'maxConcurrentCallsPerUser (--max-concurrent-calls-per-user)',
} as const

function checkConcurrent(said: RateLimitConfig): void {
  for (const name of ['maxConcurrentCalls', 'maxConcurrentCallsPerUser'] as const) {
    const { [name]: most } = said
    if (typeof most === 'number' && !isWithin(callCount, most)) {
      throw wrong(`${CONCURRENT[name]} is a whole number from 1 to ${callCount.maximum}, not ${most}`)
    }
  }
  const { maxConcurrentCalls: all, maxConcurrentCallsPerUser: each } = said
  if (all && each && each > all) {
    throw wrong(
      `${CONCURRENT.maxConcurrentCallsPerUser} is ${each}, more than all users together may make: ` +
        `${CONCURRENT.maxConcurrentCalls} is ${all}`,
    )
  }
}

function checkTools(tools: NonNullable<RateLimitConfig['tools']>): void {
  if (tools.length > MOST_TOOLS) throw wrong(`tools has more than ${MOST_TOOLS} entries`)
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`
    if (!isToolName(tool.name)) {
      throw wrong(`${at}.name is empty or longer than ${toolName.maxLength} characters`)
    }
    if (names.has(tool.name)) throw wrong(`the tool ${JSON.stringify(tool.name)} is there twice`)
    names.add(tool.name)
    if (!tool.shared && !tool.perUser) throw wrong(`${at} has neither shared nor perUser`)
    checkBuckets(tool, `${at}.`)
  }
}

function checkBuckets(of: Pick<RateLimitConfig, 'shared' | 'perUser'>, at: string): void {
  for (const name of ['shared', 'perUser'] as const) {
    const { [name]: said } = of
    if (!said) continue
    const limit = toBucketLimit(said)
    if (typeof limit === 'string') throw wrong(`${at}${name}: ${limit}`)
  }
}

function checkRedis({ shared, perUser, tools }: RateLimitConfig, { scaling_config }: RunConfig): void {
  const { address, db = 0 } = scaling_config?.session_redis ?? {}
  if (!address) return
  if (!shared && !perUser && !tools?.length) {
    throw unenforcedFailures.section_unenforced({
      members: ['scaling_config.session_redis (several replicas)'],
    })
  }
  if (/^[a-z+-]*sentinel[a-z+-]*:\/\/|,/i.test(address)) {
    throw core.usage({
      text: `The limits of calls cannot be kept behind Redis Sentinel or in a cluster (${address}).`,
      hint: 'Name one Redis: HOST:PORT or rediss://HOST:PORT.',
    })
  }
  if (!parseLimitRedis(address)) {
    throw core.usage({ text: `The Redis for limits is HOST:PORT or rediss://HOST:PORT, not "${address}".` })
  }
  if (db < 0) throw core.usage({ text: `scaling_config.session_redis.db is ${db}.` })
}
