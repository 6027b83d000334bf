import { HOUR } from '../../platform/clock.ts'
import { ROLLING, SHARED } from './redis-scripts.ts'

/** KEYS: one for each rule. ARGV: now, mode, then kind, limit and window of each rule. Wait, remaining and reset of each. */
export const CALLER = `${SHARED}${ROLLING}
local now, mode = tonumber(ARGV[1]), ARGV[2]
local meters, answer = {}, {}

-- Each kind of meter: read it as of now, charge it, and tell wait, remaining and reset; write it back if it changed.
local kinds = {}

function kinds.fixed(value, limit, window)
  local start, count, moved = now, 0, false
  if value then
    local s, n = read('<dI4', value)
    if now < s + window then
      moved = s - now > window / 12
      start, count = moved and now or s, n
    end
  end
  return {
    moved = moved, life = window + window / 12,
    charge = function() count = count + 1 end,
    value = function() return write('<dI4', start, count) end,
    tell = function()
      local reset, remaining = start + window - now, max(0, limit - count)
      return remaining > 0 and 0 or reset, remaining, reset
    end,
  }
end

function kinds.rolling(value, limit, window)
  local list, time, moved = settle(value or '', window, now)
  return {
    moved = moved, life = window + window / 12,
    charge = function()
      if #list / 8 == limit then list = sub(list, 9) end
      list = list .. write('<d', time)
    end,
    value = function() return list end,
    tell = function()
      local oldest, remaining = #list > 0 and read('<d', list) or now, limit - #list / 8
      local reset = oldest + window - now
      return remaining > 0 and 0 or reset, remaining, reset
    end,
  }
end

function kinds.tokens(value, limit, window)
  local capacity, refill = limit * TOKEN, limit * TOKEN / window
  local last, debt, moved = now, 0, false
  if value then
    last, debt = read('<dd', value)
    if last - now > SLACK then
      last, moved = now, true
    elseif last <= now then
      debt, last = max(0, debt - (now - last) * refill), now
    end
  end
  return {
    moved = moved, life = window + SLACK,
    charge = function() debt = math.min(capacity, debt + TOKEN) end,
    value = function() return write('<dd', last, debt) end,
    tell = function()
      local missing = debt + TOKEN - capacity
      local wait = missing > 0 and ceil(missing / refill) + last - now or 0
      return wait, max(0, floor((capacity - debt) / TOKEN)), ceil(debt / refill) + last - now
    end,
  }
end

local wait, refused = 0, 0
for i, value in ipairs(redis.call('MGET', unpack(KEYS))) do
  meters[i] = kinds[ARGV[i * 3]](value, tonumber(ARGV[i * 3 + 1]), tonumber(ARGV[i * 3 + 2]))
  local own = meters[i].tell()
  if own > wait then wait, refused = own, i end
end
local charge = mode == 'charge' or (mode == 'take' and wait == 0)
for i, meter in ipairs(meters) do
  if charge then meter.charge() end
  if charge or meter.moved then redis.call('SET', KEYS[i], meter.value(), 'PX', ceil(meter.life)) end
  local own, remaining, reset = meter.tell()
  for _, n in ipairs({ own, remaining, reset }) do answer[#answer + 1] = n end
end
return { refused, wait, charge and 1 or 0, answer }
`

/** KEYS: the list of limited callers. ARGV: most, until, member. Those limited longest stay. */
export const LIST_LIMITED = `
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[1]))
redis.call('PEXPIRE', KEYS[1], ${HOUR})
`
