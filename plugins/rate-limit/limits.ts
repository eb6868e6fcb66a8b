import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { BucketLimit } from './buckets/bucket.ts'
import type { Take } from './buckets/buckets.ts'
import type { CountedCall } from './counted-calls.ts'
import type { KeyMaker } from './keys.ts'
import { type RateLimitConfig, rateLimitOf, type TokenBucket } from './section.ts'
import { toBucketLimit } from './to-bucket-limit.ts'

interface Pair {
  readonly shared: BucketLimit | undefined
  readonly perUser: BucketLimit | undefined
}

/** The rates of a workload. */
export interface Rates extends Pair {
  /** By the name of the tool. */
  readonly tools: ReadonlyMap<string, Pair>
}

const toPair = ({ shared, perUser }: Pick<RateLimitConfig, 'shared' | 'perUser'>): Pair => ({
  shared: toLimit(shared),
  perUser: toLimit(perUser),
})

function toLimit(said: TokenBucket | null | undefined): BucketLimit | undefined {
  const limit = said ? toBucketLimit(said) : undefined
  if (typeof limit === 'string') throw new Error(`the section has let a bucket through: ${limit}`)
  return limit
}

/** The rates of a run config that was checked; undefined where it has none. */
export function toRates(config: RunConfig): Rates | undefined {
  const said = rateLimitOf(config) ?? {}
  const rates = {
    ...toPair(said),
    tools: new Map((said.tools ?? []).map(tool => [tool.name, toPair(tool)] as const)),
  }
  return rates.shared || rates.perUser || rates.tools.size > 0 ? rates : undefined
}

/** What calls of a user take: one token of each bucket that is theirs, for each call. */
export function takesOf(
  { shared, perUser, tools }: Rates,
  { calls, caller, keys }: { calls: readonly CountedCall[]; caller: Caller | undefined; keys: KeyMaker },
): readonly Take[] {
  const takes: Take[] = []
  const add = (limit: BucketLimit | undefined, key: () => string, tokens: number) => {
    if (limit) takes.push({ key: key(), limit, tokens })
  }
  add(shared, () => keys.shared(), calls.length)
  add(perUser, () => keys.user(caller), calls.length)
  if (tools.size === 0) return takes
  const counts = new Map<string, number>()
  for (const { tool } of calls) {
    if (tool !== undefined && tools.has(tool)) counts.set(tool, (counts.get(tool) ?? 0) + 1)
  }
  for (const [tool, count] of counts) {
    const pair = tools.get(tool)
    add(pair?.shared, () => keys.tool(tool), count)
    add(pair?.perUser, () => keys.userTool(tool, caller), count)
  }
  return takes
}
