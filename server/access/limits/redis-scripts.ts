import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import { INDIA_OFFSET_MS } from '../../platform/india-time.ts'
import { cooldownMs, MAX_COOLDOWN_LEVEL } from './cooldown.ts'
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
 * KEYS: partner key, rejections; then those of the organisation, if the key shares limits; then the recruiter, if any. ARGV: now, index of the
 * class, limits as a JSON list, TTL of a recruiter's counts, number of rejections that start a cooldown of the key, and of the
 * organisation ('0' if the key shares no limits). Returns the result (0 allowed, 1 rate limited, 2 cooldown), the wait, count and reset of
 * the minute, the exceeded meter, and the cooldowns that started: 1 for the key, plus 2 for the organisation. If the result is 2, the last
 * value is 2 if the cooldown of the organisation is longer than the one of the key, otherwise 0.
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

local hasShared = ARGV[6] ~= '0'
local recruiterKey = KEYS[hasShared and 5 or 3]
local value, shared, recruiter
if hasShared and recruiterKey then
  local values = redis.call('MGET', KEYS[1], KEYS[3], recruiterKey)
  value, shared, recruiter = values[1], values[2], values[3] or string.rep('\\0', 32)
elseif hasShared then
  local values = redis.call('MGET', KEYS[1], KEYS[3])
  value, shared = values[1], values[2]
elseif recruiterKey then
  local values = redis.call('MGET', KEYS[1], recruiterKey)
  value, recruiter = values[1], values[2] or string.rep('\\0', 32)
else
  value = redis.call('GET', KEYS[1])
end
value = readKey(value)
local classAt = 17 + 32 * classIndex
local start, level, left, cooldownMoved = readCooldown(value, now)
-- Prefixes: k for the bucket of the key (bytes 17 to 48), c for the bucket of the class, r for the bucket of the recruiter, sk and sc for
-- the buckets of the organisation and of its class.
local kWait, kMoved, kLast, kDebt, kMinute, kCount, kDay, kDayCount, kExceeded = readBucket(value, 17, 1)
local cWait, cMoved, cLast, cDebt, cMinute, cCount, cDay, cDayCount, cExceeded = readBucket(value, classAt, 5)
local rWait, rMoved, rLast, rDebt, rMinute, rCount, rDay, rDayCount, rExceeded = 0, false
if recruiter then
  rWait, rMoved, rLast, rDebt, rMinute, rCount, rDay, rDayCount, rExceeded = readBucket(recruiter, 1, 9)
end

local sStart, sLevel, sLeft, sCooldownMoved
local isSharedCooldown = false
local skWait, skMoved, skLast, skDebt, skMinute, skCount, skDay, skDayCount, skExceeded = 0, false
local scWait, scMoved, scLast, scDebt, scMinute, scCount, scDay, scDayCount, scExceeded = 0, false
if hasShared then
  shared = readKey(shared)
  sStart, sLevel, sLeft, sCooldownMoved = readCooldown(shared, now)
  skWait, skMoved, skLast, skDebt, skMinute, skCount, skDay, skDayCount, skExceeded = readBucket(shared, 17, 13)
  scWait, scMoved, scLast, scDebt, scMinute, scCount, scDay, scDayCount, scExceeded = readBucket(shared, classAt, 17)
  isSharedCooldown = sLeft > left
  left = max(left, sLeft)
end

-- The exceeded meter: 1 to 3 for the key, 4 to 6 for the class, 7 to 9 for the recruiter, 10 to 12 for the organisation, 13 to 15 for its class.
local wait, exceeded = kWait, kExceeded
if cWait > wait then wait, exceeded = cWait, 3 + cExceeded end
if rWait > wait then wait, exceeded = rWait, 6 + rExceeded end
if skWait > wait then wait, exceeded = skWait, 9 + skExceeded end
if scWait > wait then wait, exceeded = scWait, 12 + scExceeded end

-- Returns the value of a key or an organisation with two new buckets.
local function joinValue(whole, cooldownStart, cooldownLevel, keyBucket, classBucket)
  return write(HEADER, cooldownStart, cooldownLevel, 0) .. keyBucket .. sub(whole, 49, classAt - 1) .. classBucket .. sub(whole, classAt + 32)
end
local reset = (cMinute + 1) * MINUTE - now
if left == 0 and wait == 0 then
  local keyBucket = chargedBucket(1, kLast, kDebt, kMinute, kCount, kDay, kDayCount)
  local classBucket = chargedBucket(5, cLast, cDebt, cMinute, cCount, cDay, cDayCount)
  -- The first call in a minute writes the whole value and renews its TTL; later calls overwrite only their bytes.
  if kCount > 0 and not cooldownMoved then
    redis.call('SETRANGE', KEYS[1], '16', keyBucket)
    redis.call('SETRANGE', KEYS[1], tostring(classAt - 1), classBucket)
  else
    writeKey(KEYS[1], joinValue(value, start, level, keyBucket, classBucket))
  end
  if hasShared then
    keyBucket = chargedBucket(13, skLast, skDebt, skMinute, skCount, skDay, skDayCount)
    classBucket = chargedBucket(17, scLast, scDebt, scMinute, scCount, scDay, scDayCount)
    if skCount > 0 and not sCooldownMoved then
      redis.call('SETRANGE', KEYS[3], '16', keyBucket)
      redis.call('SETRANGE', KEYS[3], tostring(classAt - 1), classBucket)
    else
      writeKey(KEYS[3], joinValue(shared, sStart, sLevel, keyBucket, classBucket))
    end
  end
  if recruiter then
    recruiter = chargedBucket(9, rLast, rDebt, rMinute, rCount, rDay, rDayCount)
    if rCount > 0 then redis.call('SETRANGE', recruiterKey, '0', recruiter) else redis.call('SET', recruiterKey, recruiter, 'PX', ARGV[4]) end
  end
  return { 0, 0, cCount + 1, reset, 0, 0 }
end
${BEGIN_COOLDOWN_LUA}${ROLLING_WINDOW_LUA}
local result = left > 0 and 2 or 1

-- Counts a rejection. Returns the start and level of the cooldown, its length, and whether it starts now.
local function countRejection(key, limit, cooldownStart, cooldownLevel)
  local rejections, time = prune(redis.call('GET', key) or '', MINUTE, now)
  rejections = rejections .. write('<d', time)
  if #rejections / 8 < tonumber(limit) then
    writeList(key, rejections, MINUTE)
    return cooldownStart, cooldownLevel, 0, false
  end
  redis.call('DEL', key)
  local newLevel, length = beginCooldown(cooldownStart, cooldownLevel, now)
  return now, newLevel, length, true
end

local length, cooldownStarted, sLength, sCooldownStarted = 0, false, 0, false
if result == 2 then
  wait = left
else
  start, level, length, cooldownStarted = countRejection(KEYS[2], ARGV[5], start, level)
  if hasShared then sStart, sLevel, sLength, sCooldownStarted = countRejection(KEYS[4], ARGV[6], sStart, sLevel) end
  wait = max(wait, length, sLength)
end
-- A rejection charges nothing, but stores changes caused by a clock that was set back.
if cooldownStarted or cooldownMoved or kMoved or cMoved then
  local keyBucket, classBucket = sub(value, 17, 48), sub(value, classAt, classAt + 31)
  if kMoved then keyBucket = write(BUCKET, kLast, kDebt, kMinute, kCount, kDay, kDayCount) end
  if cMoved then classBucket = write(BUCKET, cLast, cDebt, cMinute, cCount, cDay, cDayCount) end
  writeKey(KEYS[1], joinValue(value, start, level, keyBucket, classBucket))
end
if sCooldownStarted or sCooldownMoved or skMoved or scMoved then
  local keyBucket, classBucket = sub(shared, 17, 48), sub(shared, classAt, classAt + 31)
  if skMoved then keyBucket = write(BUCKET, skLast, skDebt, skMinute, skCount, skDay, skDayCount) end
  if scMoved then classBucket = write(BUCKET, scLast, scDebt, scMinute, scCount, scDay, scDayCount) end
  writeKey(KEYS[3], joinValue(shared, sStart, sLevel, keyBucket, classBucket))
end
if rMoved then
  redis.call('SET', recruiterKey, write(BUCKET, rLast, rDebt, rMinute, rCount, rDay, rDayCount), 'PX', ARGV[4])
end
local cooldowns = (cooldownStarted and 1 or 0) + ((sCooldownStarted or isSharedCooldown) and 2 or 0)
return { result, wait, cCount, reset, exceeded, cooldowns }
`

/**
 * KEYS: partner key, rejections, pages; then those of the organisation, if the key shares limits. ARGV: now, maximum pages of the key, and of the
 * organisation. Returns the milliseconds of cooldown of the key and of the organisation; both are 0 if the page was counted.
 */
export const RECORD_PAGE_SCRIPT = `${PRELUDE_LUA}${COOLDOWN_LUA}${BEGIN_COOLDOWN_LUA}${ROLLING_WINDOW_LUA}
local now = tonumber(ARGV[1])

-- Reads the state of a key or an organisation, whose Redis keys start at index first.
local function readState(first, limit)
  local value = readKey(redis.call('GET', KEYS[first]))
  local start, level, left, moved = readCooldown(value, now)
  return { value = value, start = start, level = level, left = left, moved = moved, first = first, limit = tonumber(limit) }
end

local states = { readState(1, ARGV[2]) }
if KEYS[4] then states[2] = readState(4, ARGV[3]) end
local inCooldown, isLimitReached = false, false
for _, state in ipairs(states) do inCooldown = inCooldown or state.left > 0 end
if not inCooldown then
  for _, state in ipairs(states) do
    state.pages, state.time, state.pagesMoved = prune(redis.call('GET', KEYS[state.first + 2]) or '', HOUR, now)
    state.isLimitReached = #state.pages / 8 >= state.limit
    isLimitReached = isLimitReached or state.isLimitReached
  end
  for _, state in ipairs(states) do
    if not isLimitReached then
      writeList(KEYS[state.first + 2], state.pages .. write('<d', state.time), HOUR)
    else
      if state.pagesMoved then writeList(KEYS[state.first + 2], state.pages, HOUR) end
      if state.isLimitReached then
        state.level, state.left = beginCooldown(state.start, state.level, now)
        state.start, state.moved = now, true
        redis.call('DEL', KEYS[state.first + 1])
      end
    end
  end
end
for _, state in ipairs(states) do
  if state.moved then
    writeKey(KEYS[state.first], write(HEADER, state.start, state.level, 0) .. sub(state.value, 17))
  end
end
return { states[1].left, states[2] and states[2].left or 0 }
`

/**
 * KEYS: the day and its seen skills; then those of the organisation, if the key shares limits. ARGV: now, maximum skills of the key, and of the
 * organisation, IDs. Returns the milliseconds until midnight for the key and for the organisation; both are 0 if the skills were counted.
 */
export const RECORD_SKILLS_SCRIPT = `${PRELUDE_LUA}
local now = tonumber(ARGV[1])
local today = floor((now + INDIA_OFFSET) / DAY)
local ids = {}
for i = 4, #ARGV do ids[i - 3] = ARGV[i] end

-- Returns the skills that are not in the set yet, and the milliseconds until they can be added.
local function findUnseen(dayKey, setKey, limit)
  local day = tonumber(redis.call('GET', dayKey) or 0)
  if today > day then
    redis.call('DEL', setKey)
    day = today
  elseif day * DAY - INDIA_OFFSET - now > DAY_SLACK then
    day = today
  end
  redis.call('SET', dayKey, day, 'PX', '${DAY + DAY_SLACK_MS}')
  local unseen, added = {}, {}
  if #ids > 0 then
    for i, seen in ipairs(redis.call('SMISMEMBER', setKey, unpack(ids))) do
      if seen == 0 and not added[ids[i]] then
        added[ids[i]] = true
        unseen[#unseen + 1] = ids[i]
      end
    end
  end
  if #unseen > 0 and redis.call('SCARD', setKey) + #unseen > tonumber(limit) then
    return unseen, (day + 1) * DAY - INDIA_OFFSET - now
  end
  return unseen, 0
end

local function addSkills(setKey, unseen)
  if #unseen == 0 then return end
  redis.call('SADD', setKey, unpack(unseen))
  redis.call('PEXPIRE', setKey, '${DAY + DAY_SLACK_MS}')
end

local unseen, wait = findUnseen(KEYS[1], KEYS[2], ARGV[2])
local sharedUnseen, sharedWait = {}, 0
if KEYS[4] then sharedUnseen, sharedWait = findUnseen(KEYS[3], KEYS[4], ARGV[3]) end
if wait == 0 and sharedWait == 0 then
  addSkills(KEYS[2], unseen)
  addSkills(KEYS[4], sharedUnseen)
end
return { wait, sharedWait }
`
