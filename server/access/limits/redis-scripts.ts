import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import { cooldownLength, TOP_LEVEL } from './cooldown.ts'
import { REFUSALS_BEFORE_COOLDOWN } from './limiter.ts'
import { BUCKET_NAMES, type BucketName, TOKEN } from './table.ts'
import { DAY_SLACK, dayStart, SLACK } from './windows.ts'

/**
 * The engine inside Redis. Every script touches only the keys it is given, which share one hash tag. Values are packed strings: one
 * for a partner key (its cooldown, then a place for each of its buckets), one for each recruiter, one for each list of times. Redis
 * expires them by its own clock, but what they mean is decided by the times within them and the time the caller gives.
 */

/** The place of each bucket within a partner key's value. */
export const PLACE = Object.fromEntries(BUCKET_NAMES.map((name, i) => [name, i]))

/** What one bucket takes within the value: two times, two windows, two counts. */
export const BUCKET_BYTES = 32

/** Where the bucket of a class starts, from 0. */
export function bucketStart(limitClass: BucketName): number {
  return 16 + BUCKET_BYTES * PLACE[limitClass]!
}

export const SHARED = `
local TOKEN, SLACK, DAY_SLACK, MINUTE, HOUR, DAY = ${TOKEN}, ${SLACK}, ${DAY_SLACK}, ${MINUTE}, ${HOUR}, ${DAY}
local INDIA = ${-dayStart(0)}
local read, write, sub, floor, ceil, max = struct.unpack, struct.pack, string.sub, math.floor, math.ceil, math.max
`

const COOLDOWN = `
-- Start and level of the cooldown, 8 bytes of room, then 32 bytes for each bucket.
local HEADER, BUCKET = '<dI4I4', '<ddI4I4I4I4'
local LENGTH = 16 + 32 * ${BUCKET_NAMES.length}

local function readKey(value)
  if value and #value == LENGTH then return value end
  return string.rep('\\0', LENGTH)
end

local function cooldownLength(level) return math.min(${cooldownLength(TOP_LEVEL)}, ${cooldownLength(1)} * 2 ^ (level - 1)) end

-- The start, the level, the milliseconds left, and whether a clock set back ended it.
local function readCooldown(value, now)
  local start, level = read(HEADER, value)
  if level == 0 then return start, level, 0, false end
  local length, moved = cooldownLength(level), start - now > SLACK
  if moved then start = now - length end
  return start, level, max(0, start + length - now), moved
end

-- Numbers within commands are given as text: Redis would print them with all their digits.
local function writeKey(key, value) redis.call('SET', key, value, 'PX', '${DAY + DAY_SLACK}') end
`

const BEGIN_COOLDOWN = `
-- The level and the length of a cooldown that starts now.
local function beginCooldown(start, level, now)
  level = now - start <= HOUR and math.min(${TOP_LEVEL}, level + 1) or 1
  return level, cooldownLength(level)
end
`

export const ROLLING = `
-- A list of times without those that have left the window, the time to write down for now, and whether a clock set back moved it.
local function settle(list, window, now)
  local count = #list / 8
  if count == 0 then return list, now, false end
  local newest, moved = read('<d', list, #list - 7), false
  if newest - now > window / 12 then
    local kept = count
    while kept > 0 and read('<d', list, kept * 8 - 7) > now do kept = kept - 1 end
    list = sub(list, 1, kept * 8) .. string.rep(write('<d', now), count - kept)
    newest, moved = now, true
  end
  local time, first = max(now, newest), 1
  while first <= count and time - read('<d', list, first * 8 - 7) >= window do first = first + 1 end
  if first > 1 then list = sub(list, first * 8 - 7) end
  return list, time, moved
end

local function writeList(key, list, window)
  redis.call('SET', key, list, 'PX', ceil(window + window / 12))
end
`

/** KEYS: partner key, refusals, recruiter if any. ARGV: now, place of the class, limits as a JSON list, life of a recruiter. */
export const DECIDE = `${SHARED}${COOLDOWN}
local now, place, limits = tonumber(ARGV[1]), tonumber(ARGV[2]), cjson.decode(ARGV[3])
local thisMinute, today = floor(now / MINUTE), floor((now + INDIA) / DAY)

-- A bucket's meters as of now, the wait until all have room, whether a clock set back moved them, and which one (1 to 3) takes longest.
local function look(value, at, first)
  local refill, capacity, perMinute, perDay = limits[first], limits[first + 1], limits[first + 2], limits[first + 3]
  local last, debt, minute, minuteCount, day, dayCount = read(BUCKET, value, at)
  local moved = false
  if last - now > SLACK then
    last, moved = now, true
  elseif last <= now then
    debt = max(0, debt - (now - last) * refill)
    last = now
  end
  if minute < thisMinute then
    minute, minuteCount = thisMinute, 0
  elseif minute * MINUTE - now > SLACK then
    minute, moved = thisMinute, true
  end
  if day < today then
    day, dayCount = today, 0
  elseif day * DAY - INDIA - now > DAY_SLACK then
    day, moved = today, true
  end
  local wait, missing, over = 0, debt + TOKEN - capacity, 1
  if missing > 0 then wait = ceil(missing / refill) + last - now end
  local left = (minute + 1) * MINUTE - now
  if minuteCount >= perMinute and left > wait then wait, over = left, 2 end
  left = (day + 1) * DAY - INDIA - now
  if perDay >= 0 and dayCount >= perDay and left > wait then wait, over = left, 3 end
  return wait, moved, last, debt, minute, minuteCount, day, dayCount, over
end

local function charged(first, last, debt, minute, minuteCount, day, dayCount)
  if limits[first + 3] >= 0 then dayCount = dayCount + 1 end
  return write(BUCKET, last, debt + TOKEN, minute, minuteCount + 1, day, dayCount)
end

local value, person
if KEYS[3] then
  local both = redis.call('MGET', KEYS[1], KEYS[3])
  value, person = both[1], both[2] or string.rep('\\0', 32)
else
  value = redis.call('GET', KEYS[1])
end
value = readKey(value)
local classAt = 17 + 32 * place
local start, level, left, cooldownMoved = readCooldown(value, now)
local w, wMoved, wLast, wDebt, wMinute, wCount, wDay, wDayCount, wOver = look(value, 17, 1)
local c, cMoved, cLast, cDebt, cMinute, cCount, cDay, cDayCount, cOver = look(value, classAt, 5)
local p, pMoved, pLast, pDebt, pMinute, pCount, pDay, pDayCount, pOver = 0, false
if person then p, pMoved, pLast, pDebt, pMinute, pCount, pDay, pDayCount, pOver = look(person, 1, 9) end

-- What refuses: three meters of the key, then of the class, then of the recruiter, from 1.
local wait, over = w, wOver
if c > wait then wait, over = c, 3 + cOver end
if p > wait then wait, over = p, 6 + pOver end
local reset = (cMinute + 1) * MINUTE - now
if left == 0 and wait == 0 then
  local whole = charged(1, wLast, wDebt, wMinute, wCount, wDay, wDayCount)
  local class = charged(5, cLast, cDebt, cMinute, cCount, cDay, cDayCount)
  -- A value is written whole, and its life renewed, by the first call in a minute; the others change their part of it.
  if wCount > 0 and not cooldownMoved then
    redis.call('SETRANGE', KEYS[1], '16', whole)
    redis.call('SETRANGE', KEYS[1], tostring(classAt - 1), class)
  else
    writeKey(KEYS[1], write(HEADER, start, level, 0) .. whole .. sub(value, 49, classAt - 1) .. class .. sub(value, classAt + 32))
  end
  if person then
    person = charged(9, pLast, pDebt, pMinute, pCount, pDay, pDayCount)
    if pCount > 0 then redis.call('SETRANGE', KEYS[3], '0', person) else redis.call('SET', KEYS[3], person, 'PX', ARGV[4]) end
  end
  return { 0, 0, cCount + 1, reset, 0, 0 }
end
${BEGIN_COOLDOWN}${ROLLING}
local answer, began = left > 0 and 2 or 1, false
if answer == 2 then
  wait = left
else
  local refusals, time = settle(redis.call('GET', KEYS[2]) or '', MINUTE, now)
  refusals = refusals .. write('<d', time)
  if #refusals / 8 < ${REFUSALS_BEFORE_COOLDOWN} then
    writeList(KEYS[2], refusals, MINUTE)
  else
    local length
    level, length = beginCooldown(start, level, now)
    start, wait, began = now, max(wait, length), true
    redis.call('DEL', KEYS[2])
  end
end
-- A refusal charges nothing, but what a clock set back has moved stays moved.
if began or cooldownMoved or wMoved or cMoved then
  local whole, class = sub(value, 17, 48), sub(value, classAt, classAt + 31)
  if wMoved then whole = write(BUCKET, wLast, wDebt, wMinute, wCount, wDay, wDayCount) end
  if cMoved then class = write(BUCKET, cLast, cDebt, cMinute, cCount, cDay, cDayCount) end
  writeKey(KEYS[1], write(HEADER, start, level, 0) .. whole .. sub(value, 49, classAt - 1) .. class .. sub(value, classAt + 32))
end
if pMoved then
  redis.call('SET', KEYS[3], write(BUCKET, pLast, pDebt, pMinute, pCount, pDay, pDayCount), 'PX', ARGV[4])
end
return { answer, wait, cCount, reset, over, began and 1 or 0 }
`

/** KEYS: partner key, refusals, pages. ARGV: now, pages allowed. Milliseconds of cooldown, 0 where the page is counted. */
export const BROWSE_PAGE = `${SHARED}${COOLDOWN}${BEGIN_COOLDOWN}${ROLLING}
local now = tonumber(ARGV[1])
local value = readKey(redis.call('GET', KEYS[1]))
local start, level, left, moved = readCooldown(value, now)
local began = false
if left == 0 then
  local pages, time, pagesMoved = settle(redis.call('GET', KEYS[3]) or '', HOUR, now)
  if #pages / 8 < tonumber(ARGV[2]) then
    writeList(KEYS[3], pages .. write('<d', time), HOUR)
  else
    if pagesMoved then writeList(KEYS[3], pages, HOUR) end
    level, left = beginCooldown(start, level, now)
    start, began = now, true
    redis.call('DEL', KEYS[2])
  end
end
if moved or began then writeKey(KEYS[1], write(HEADER, start, level, 0) .. sub(value, 17)) end
return left
`

/** KEYS: the day, the skills seen in it. ARGV: now, skills allowed, ids. Milliseconds until midnight, 0 where all may be seen. */
export const SEE_SKILLS = `${SHARED}
local now, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local today = floor((now + INDIA) / DAY)
local day = tonumber(redis.call('GET', KEYS[1]) or 0)
if today > day then
  redis.call('DEL', KEYS[2])
  day = today
elseif day * DAY - INDIA - now > DAY_SLACK then
  day = today
end
local ids, fresh, added = {}, {}, {}
for i = 3, #ARGV do ids[i - 2] = ARGV[i] end
if #ids > 0 then
  for i, seen in ipairs(redis.call('SMISMEMBER', KEYS[2], unpack(ids))) do
    if seen == 0 and not added[ids[i]] then
      added[ids[i]] = true
      fresh[#fresh + 1] = ids[i]
    end
  end
end
local wait = 0
if #fresh > 0 then
  if redis.call('SCARD', KEYS[2]) + #fresh > most then
    wait = (day + 1) * DAY - INDIA - now
  else
    redis.call('SADD', KEYS[2], unpack(fresh))
    redis.call('PEXPIRE', KEYS[2], '${DAY + DAY_SLACK}')
  end
end
redis.call('SET', KEYS[1], day, 'PX', '${DAY + DAY_SLACK}')
return wait
`
