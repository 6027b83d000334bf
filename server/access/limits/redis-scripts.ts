import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import { INDIA_OFFSET_MS } from '../../platform/india-time.ts'
import { cooldownMs, MAX_COOLDOWN_LEVEL } from './cooldown.ts'
import { REJECTIONS_BEFORE_COOLDOWN } from './limiter.ts'
import { BUCKET_NAMES, type BucketName, UNITS_PER_TOKEN } from './table.ts'
import { DAY_SLACK_MS, MINUTE_SLACK_MS } from './windows.ts'

/**
 * Lua scripts of the Redis engine. A script accesses only the keys in KEYS, which share one hash tag. Values are packed strings: one for
 * a partner key (its cooldown, then one entry for each bucket), one for each recruiter, and one for each list of times. Redis expires
 * keys by its own clock, but decisions depend only on the times in the values and the time that the caller sends.
 */

/** Position of each bucket in a partner key's value, from 0. */
export const BUCKET_INDEX = Object.fromEntries(BUCKET_NAMES.map((name, i) => [name, i]))

/** Size of one bucket: two doubles (last charge, debt) and four integers (minute and day windows with their counts). */
export const BUCKET_BYTES = 32

/** Returns the byte offset of a bucket, from 0. */
export function bucketOffset(bucket: BucketName): number {
  return 16 + BUCKET_BYTES * BUCKET_INDEX[bucket]!
}

export const PRELUDE_LUA = `
local UNITS_PER_TOKEN, MINUTE_SLACK, DAY_SLACK, MINUTE, HOUR, DAY = ${UNITS_PER_TOKEN}, ${MINUTE_SLACK_MS}, ${DAY_SLACK_MS}, ${MINUTE}, ${HOUR}, ${DAY}
local INDIA_OFFSET = ${INDIA_OFFSET_MS}
local function clockSlack(window) return window / 12 end -- the same as clockSlackMs
local read, write, sub, floor, ceil, max = struct.unpack, struct.pack, string.sub, math.floor, math.ceil, math.max
`

const COOLDOWN_LUA = `
-- Header: start and level of the cooldown, and 4 reserved bytes. Then 32 bytes for each bucket.
local HEADER, BUCKET = '<dI4I4', '<ddI4I4I4I4'
local LENGTH = 16 + 32 * ${BUCKET_NAMES.length}

local function readKey(value)
  if value and #value == LENGTH then return value end
  return string.rep('\\0', LENGTH)
end

local function cooldownMs(level) return math.min(${cooldownMs(MAX_COOLDOWN_LEVEL)}, ${cooldownMs(1)} * 2 ^ (level - 1)) end

-- Returns the start, the level, the milliseconds left, and whether the cooldown ended because the clock was set back.
local function readCooldown(value, now)
  local start, level = read(HEADER, value)
  if level == 0 then return start, level, 0, false end
  local length, moved = cooldownMs(level), start - now > MINUTE_SLACK
  if moved then start = now - length end
  return start, level, max(0, start + length - now), moved
end

-- Constant arguments are strings: Redis would format numbers with all their digits.
local function writeKey(key, value) redis.call('SET', key, value, 'PX', '${DAY + DAY_SLACK_MS}') end
`

const BEGIN_COOLDOWN_LUA = `
-- Returns the level and the length of a cooldown that starts now.
local function beginCooldown(start, level, now)
  level = now - start <= HOUR and math.min(${MAX_COOLDOWN_LEVEL}, level + 1) or 1
  return level, cooldownMs(level)
end
`

export const ROLLING_WINDOW_LUA = `
-- Returns the list without the times that have left the window, the time to record for an event that happens now, and whether times
-- were changed because the clock was set back.
local function prune(list, window, now)
  local count = #list / 8
  if count == 0 then return list, now, false end
  local newest, moved = read('<d', list, #list - 7), false
  if newest - now > clockSlack(window) then
    local past = count
    while past > 0 and read('<d', list, past * 8 - 7) > now do past = past - 1 end
    list = sub(list, 1, past * 8) .. string.rep(write('<d', now), count - past)
    newest, moved = now, true
  end
  local time, first = max(now, newest), 1
  while first <= count and time - read('<d', list, first * 8 - 7) >= window do first = first + 1 end
  if first > 1 then list = sub(list, first * 8 - 7) end
  return list, time, moved
end

local function writeList(key, list, window)
  redis.call('SET', key, list, 'PX', ceil(window + clockSlack(window)))
end
`

/**
 * KEYS: partner key, rejections, recruiter if any. ARGV: now, index of the class, limits as a JSON list, TTL of a recruiter's counts. Returns the
 * result (0 allowed, 1 rate limited, 2 cooldown), the wait, count and reset of the minute, the exceeded meter, and whether a cooldown
 * started.
 */
export const DECIDE_SCRIPT = `${PRELUDE_LUA}${COOLDOWN_LUA}
local now, classIndex, limits = tonumber(ARGV[1]), tonumber(ARGV[2]), cjson.decode(ARGV[3])
local thisMinute, today = floor(now / MINUTE), floor((now + INDIA_OFFSET) / DAY)

-- Returns the wait until all meters of a bucket allow a call, whether they were changed because the clock was set back, the meters as of
-- now, and the number (1 to 3) of the meter with the longest wait.
-- The bucket starts at byte at (from 1) of value; its limits start at index first of limits.
local function readBucket(value, at, first)
  local refill, capacity, perMinute, perDay = limits[first], limits[first + 1], limits[first + 2], limits[first + 3]
  local last, debt, minute, minuteCount, day, dayCount = read(BUCKET, value, at)
  local moved = false
  if last - now > MINUTE_SLACK then
    last, moved = now, true
  elseif last <= now then
    debt = max(0, debt - (now - last) * refill)
    last = now
  end
  if minute < thisMinute then
    minute, minuteCount = thisMinute, 0
  elseif minute * MINUTE - now > MINUTE_SLACK then
    minute, moved = thisMinute, true
  end
  if day < today then
    day, dayCount = today, 0
  elseif day * DAY - INDIA_OFFSET - now > DAY_SLACK then
    day, moved = today, true
  end
  local wait, missingUnits, exceeded = 0, debt + UNITS_PER_TOKEN - capacity, 1
  if missingUnits > 0 then wait = ceil(missingUnits / refill) + last - now end
  local left = (minute + 1) * MINUTE - now
  if minuteCount >= perMinute and left > wait then wait, exceeded = left, 2 end
  left = (day + 1) * DAY - INDIA_OFFSET - now
  if perDay >= 0 and dayCount >= perDay and left > wait then wait, exceeded = left, 3 end
  return wait, moved, last, debt, minute, minuteCount, day, dayCount, exceeded
end

local function chargedBucket(first, last, debt, minute, minuteCount, day, dayCount)
  if limits[first + 3] >= 0 then dayCount = dayCount + 1 end
  return write(BUCKET, last, debt + UNITS_PER_TOKEN, minute, minuteCount + 1, day, dayCount)
end

local value, recruiter
if KEYS[3] then
  local both = redis.call('MGET', KEYS[1], KEYS[3])
  value, recruiter = both[1], both[2] or string.rep('\\0', 32)
else
  value = redis.call('GET', KEYS[1])
end
value = readKey(value)
local classAt = 17 + 32 * classIndex
local start, level, left, cooldownMoved = readCooldown(value, now)
-- Prefixes: k for the bucket of the key (bytes 17 to 48), c for the bucket of the class, r for the bucket of the recruiter.
local kWait, kMoved, kLast, kDebt, kMinute, kCount, kDay, kDayCount, kExceeded = readBucket(value, 17, 1)
local cWait, cMoved, cLast, cDebt, cMinute, cCount, cDay, cDayCount, cExceeded = readBucket(value, classAt, 5)
local rWait, rMoved, rLast, rDebt, rMinute, rCount, rDay, rDayCount, rExceeded = 0, false
if recruiter then
  rWait, rMoved, rLast, rDebt, rMinute, rCount, rDay, rDayCount, rExceeded = readBucket(recruiter, 1, 9)
end

-- The exceeded meter: 1 to 3 for the key, 4 to 6 for the class, 7 to 9 for the recruiter.
local wait, exceeded = kWait, kExceeded
if cWait > wait then wait, exceeded = cWait, 3 + cExceeded end
if rWait > wait then wait, exceeded = rWait, 6 + rExceeded end
local reset = (cMinute + 1) * MINUTE - now
if left == 0 and wait == 0 then
  local keyBucket = chargedBucket(1, kLast, kDebt, kMinute, kCount, kDay, kDayCount)
  local classBucket = chargedBucket(5, cLast, cDebt, cMinute, cCount, cDay, cDayCount)
  -- The first call in a minute writes the whole value and renews its TTL; later calls overwrite only their bytes.
  if kCount > 0 and not cooldownMoved then
    redis.call('SETRANGE', KEYS[1], '16', keyBucket)
    redis.call('SETRANGE', KEYS[1], tostring(classAt - 1), classBucket)
  else
    writeKey(KEYS[1], write(HEADER, start, level, 0) .. keyBucket .. sub(value, 49, classAt - 1) .. classBucket .. sub(value, classAt + 32))
  end
  if recruiter then
    recruiter = chargedBucket(9, rLast, rDebt, rMinute, rCount, rDay, rDayCount)
    if rCount > 0 then redis.call('SETRANGE', KEYS[3], '0', recruiter) else redis.call('SET', KEYS[3], recruiter, 'PX', ARGV[4]) end
  end
  return { 0, 0, cCount + 1, reset, 0, 0 }
end
${BEGIN_COOLDOWN_LUA}${ROLLING_WINDOW_LUA}
local result, cooldownStarted = left > 0 and 2 or 1, false
if result == 2 then
  wait = left
else
  local rejections, time = prune(redis.call('GET', KEYS[2]) or '', MINUTE, now)
  rejections = rejections .. write('<d', time)
  if #rejections / 8 < ${REJECTIONS_BEFORE_COOLDOWN} then
    writeList(KEYS[2], rejections, MINUTE)
  else
    local length
    level, length = beginCooldown(start, level, now)
    start, wait, cooldownStarted = now, max(wait, length), true
    redis.call('DEL', KEYS[2])
  end
end
-- A rejection charges nothing, but stores changes caused by a clock that was set back.
if cooldownStarted or cooldownMoved or kMoved or cMoved then
  local keyBucket, classBucket = sub(value, 17, 48), sub(value, classAt, classAt + 31)
  if kMoved then keyBucket = write(BUCKET, kLast, kDebt, kMinute, kCount, kDay, kDayCount) end
  if cMoved then classBucket = write(BUCKET, cLast, cDebt, cMinute, cCount, cDay, cDayCount) end
  writeKey(KEYS[1], write(HEADER, start, level, 0) .. keyBucket .. sub(value, 49, classAt - 1) .. classBucket .. sub(value, classAt + 32))
end
if rMoved then
  redis.call('SET', KEYS[3], write(BUCKET, rLast, rDebt, rMinute, rCount, rDay, rDayCount), 'PX', ARGV[4])
end
return { result, wait, cCount, reset, exceeded, cooldownStarted and 1 or 0 }
`

/** KEYS: partner key, rejections, pages. ARGV: now, maximum pages. Returns the milliseconds of cooldown, or 0 if the page was counted. */
export const RECORD_PAGE_SCRIPT = `${PRELUDE_LUA}${COOLDOWN_LUA}${BEGIN_COOLDOWN_LUA}${ROLLING_WINDOW_LUA}
local now = tonumber(ARGV[1])
local value = readKey(redis.call('GET', KEYS[1]))
local start, level, left, moved = readCooldown(value, now)
local cooldownStarted = false
if left == 0 then
  local pages, time, pagesMoved = prune(redis.call('GET', KEYS[3]) or '', HOUR, now)
  if #pages / 8 < tonumber(ARGV[2]) then
    writeList(KEYS[3], pages .. write('<d', time), HOUR)
  else
    if pagesMoved then writeList(KEYS[3], pages, HOUR) end
    level, left = beginCooldown(start, level, now)
    start, cooldownStarted = now, true
    redis.call('DEL', KEYS[2])
  end
end
if moved or cooldownStarted then writeKey(KEYS[1], write(HEADER, start, level, 0) .. sub(value, 17)) end
return left
`

/** KEYS: the day, its seen skills. ARGV: now, maximum skills, IDs. Returns the milliseconds until midnight, or 0 if the skills were counted. */
export const RECORD_SKILLS_SCRIPT = `${PRELUDE_LUA}
local now, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local today = floor((now + INDIA_OFFSET) / DAY)
local day = tonumber(redis.call('GET', KEYS[1]) or 0)
if today > day then
  redis.call('DEL', KEYS[2])
  day = today
elseif day * DAY - INDIA_OFFSET - now > DAY_SLACK then
  day = today
end
local ids, unseen, added = {}, {}, {}
for i = 3, #ARGV do ids[i - 2] = ARGV[i] end
if #ids > 0 then
  for i, seen in ipairs(redis.call('SMISMEMBER', KEYS[2], unpack(ids))) do
    if seen == 0 and not added[ids[i]] then
      added[ids[i]] = true
      unseen[#unseen + 1] = ids[i]
    end
  end
end
local wait = 0
if #unseen > 0 then
  if redis.call('SCARD', KEYS[2]) + #unseen > limit then
    wait = (day + 1) * DAY - INDIA_OFFSET - now
  else
    redis.call('SADD', KEYS[2], unpack(unseen))
    redis.call('PEXPIRE', KEYS[2], '${DAY + DAY_SLACK_MS}')
  end
end
redis.call('SET', KEYS[1], day, 'PX', '${DAY + DAY_SLACK_MS}')
return wait
`
