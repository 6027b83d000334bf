import { HOUR } from '../../platform/clock.ts'
import { PRELUDE_LUA, ROLLING_WINDOW_LUA } from './redis-scripts.ts'

/**
 * KEYS: one Redis key for each rule. ARGV: now, mode, then kind, limit and window of each rule. Returns the number of the rejecting rule or 0, the
 * wait, whether the call was charged, and a list with wait, remaining and reset of each rule.
 */
export const METER_CALLER_SCRIPT = `${PRELUDE_LUA}${ROLLING_WINDOW_LUA}
local now, mode = tonumber(ARGV[1]), ARGV[2]
local meters, states = {}, {}

-- Each function reads a meter as of now. The meter has these fields: moved (whether its times were moved because the clock was set
-- back), ttl, charge (counts a call), state (returns wait, remaining and reset) and value (packs the meter).
local kinds = {}

function kinds.fixed(value, limit, window)
  local start, count, moved = now, 0, false
  if value then
    local storedStart, storedCount = read('<dI4', value)
    if now < storedStart + window then
      moved = storedStart - now > clockSlack(window)
      start, count = moved and now or storedStart, storedCount
    end
  end
  return {
    moved = moved, ttl = window + clockSlack(window),
    charge = function() count = count + 1 end,
    value = function() return write('<dI4', start, count) end,
    state = function()
      local reset, remaining = start + window - now, max(0, limit - count)
      return remaining > 0 and 0 or reset, remaining, reset
    end,
  }
end

function kinds.rolling(value, limit, window)
  local list, time, moved = prune(value or '', window, now)
  return {
    moved = moved, ttl = window + clockSlack(window),
    charge = function()
      if #list / 8 == limit then list = sub(list, 9) end
      list = list .. write('<d', time)
    end,
    value = function() return list end,
    state = function()
      local oldest, remaining = #list > 0 and read('<d', list) or now, limit - #list / 8
      local reset = oldest + window - now
      return remaining > 0 and 0 or reset, remaining, reset
    end,
  }
end

function kinds.tokens(value, limit, window)
  local capacity, refill = limit * UNITS_PER_TOKEN, limit * UNITS_PER_TOKEN / window
  local last, debt, moved = now, 0, false
  if value then
    last, debt = read('<dd', value)
    if last - now > MINUTE_SLACK then
      last, moved = now, true
    elseif last <= now then
      debt, last = max(0, debt - (now - last) * refill), now
    end
  end
  return {
    moved = moved, ttl = window + MINUTE_SLACK,
    charge = function() debt = math.min(capacity, debt + UNITS_PER_TOKEN) end,
    value = function() return write('<dd', last, debt) end,
    state = function()
      local missingUnits = debt + UNITS_PER_TOKEN - capacity
      local wait = missingUnits > 0 and ceil(missingUnits / refill) + last - now or 0
      return wait, max(0, floor((capacity - debt) / UNITS_PER_TOKEN)), ceil(debt / refill) + last - now
    end,
  }
end

local wait, rejectedBy = 0, 0
for i, value in ipairs(redis.call('MGET', unpack(KEYS))) do
  meters[i] = kinds[ARGV[i * 3]](value, tonumber(ARGV[i * 3 + 1]), tonumber(ARGV[i * 3 + 2]))
  local meterWait = meters[i].state()
  if meterWait > wait then wait, rejectedBy = meterWait, i end
end
local charge = mode == 'charge' or (mode == 'take' and wait == 0)
for i, meter in ipairs(meters) do
  if charge then meter.charge() end
  if charge or meter.moved then redis.call('SET', KEYS[i], meter.value(), 'PX', ceil(meter.ttl)) end
  local meterWait, remaining, reset = meter.state()
  for _, n in ipairs({ meterWait, remaining, reset }) do states[#states + 1] = n end
end
return { rejectedBy, wait, charge and 1 or 0, states }
`

/** KEYS: the list of limited callers. ARGV: maximum length of the list, end of the limit, member. Keeps the callers that are limited longest. */
export const ADD_LIMITED_CALLER_SCRIPT = `
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[1]))
redis.call('PEXPIRE', KEYS[1], ${HOUR})
`
