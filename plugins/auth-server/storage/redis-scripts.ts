/** Lua scripts, which Redis runs one at a time. Times are those of the clock of Redis, in milliseconds since 1970. */

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/** Puts an entry and its place in the index, which lasts as long as its longest entry. */
const PUT = `
local function put(entry, index, member, value, lifetime)
  redis.call('SET', entry, value, 'PX', lifetime)
  redis.call('ZADD', index, now + lifetime, member)
  if redis.call('PTTL', index) < tonumber(lifetime) then redis.call('PEXPIRE', index, lifetime) end
end
`

/** Keys: entry, index. Arguments: member, value, lifetime, most entries, most expired ones to remove. */
export const ADD = `${NOW}${PUT}
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[5])
if #gone > 0 then redis.call('ZREM', KEYS[2], unpack(gone)) end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then return 0 end
put(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])
return 1
`

/** Keys: entry, index, entry afterwards. Arguments: member, member afterwards, expected, value, lifetime. */
export const REPLACE = `${NOW}${PUT}
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
if KEYS[3] ~= KEYS[1] then
  if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
put(KEYS[3], KEYS[2], ARGV[2], ARGV[4], ARGV[5])
return 1
`

/** Keys: entry, index. Argument: member. */
export const TAKE = `
local value = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return value
`
