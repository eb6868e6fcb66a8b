/**
 * The arithmetic of `bucket.ts` as a script, which Redis runs as one step and with its own clock. Keys: the buckets.
 * Arguments, for each: most tokens, period in milliseconds, tokens to take. Returns the place of the bucket that has to
 * wait longest, from 1, and how many milliseconds; 0 and 0 when all were taken. A bucket ends when it is full again.
 */
export const TAKE_TOKENS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local index, longest, debts = 0, 0, {}
for i, key in ipairs(KEYS) do
  local most, period, tokens = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local kept = redis.call('HMGET', key, 'debt', 'at')
  local debt, at = tonumber(kept[1] or '0'), tonumber(kept[2] or '0')
  local elapsed = math.min(math.max(0, now - at), period)
  debt = math.max(0, math.min(debt, most * period) - elapsed * most)
  local excess, wait = debt + (math.min(tokens, most) - most) * period, 0
  if excess > 0 then wait = math.ceil(excess / most) elseif tokens > most then wait = period end
  if wait > longest then index, longest = i, wait end
  debts[i] = debt + tokens * period
end
if index > 0 then return {index, longest} end
for i, key in ipairs(KEYS) do
  redis.call('HSET', key, 'debt', string.format('%.0f', debts[i]), 'at', string.format('%.0f', now))
  redis.call('PEXPIRE', key, math.ceil(debts[i] / tonumber(ARGV[3 * i - 2])))
end
return {0, 0}
`
