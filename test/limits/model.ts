import {
  type CallerDecision,
  type ExceededMeter,
  type LimitError,
  type LimitedCaller,
  type Limiter,
  METER_NAMES,
  type MinuteWindow,
  type RateLimitDecision,
  type Rule,
} from '../../server/access/limits/limiter.ts'
import type { Bucket, BucketName, KeyLimits, LimitClass } from '../../server/access/limits/table.ts'
import { DAY, HOUR, MINUTE } from '../../server/platform/clock.ts'

/**
 * A meter of the slow and simple reference implementation of the limits, which tests compare with the engines: one object per meter in
 * a Map, nothing packed, nothing deleted. `advance` moves a meter to a time; then `wait` returns the milliseconds until a call is
 * allowed, and `count` counts a call. The stored state changes only when a call is counted, or when the clock was set back
 * by more than a twelfth of the window.
 */
interface Meter {
  advance(now: number): void
  wait(now: number): number
  count(now: number): void
  remaining(): number
  reset(now: number): number
}

/** Creates a meter whose windows are aligned to the clock: minutes, or days that start at `offsetMs`. */
function alignedWindow(limit: number, lengthMs: number, offsetMs: number): Meter {
  let stored = { window: -1, used: 0 }
  let current = stored
  const startOf = (window: number) => window * lengthMs + offsetMs
  return {
    advance(now) {
      const index = Math.floor((now - offsetMs) / lengthMs)
      if (startOf(stored.window) - now > lengthMs / 12) stored = { window: index, used: stored.used }
      current = index > stored.window ? { window: index, used: 0 } : stored
    },
    wait: (now) => (current.used < limit ? 0 : startOf(current.window + 1) - now),
    count() {
      stored = current = { window: current.window, used: current.used + 1 }
    },
    remaining: () => Math.max(0, limit - current.used),
    reset: (now) => startOf(current.window + 1) - now,
  }
}

/** Creates a meter whose window starts with the first call. */
function fixedWindow(limit: number, lengthMs: number): Meter {
  let stored = { start: -Infinity, used: 0 }
  let current = stored
  return {
    advance(now) {
      if (stored.start - now > lengthMs / 12) stored = { start: now, used: stored.used }
      current = now >= stored.start + lengthMs ? { start: now, used: 0 } : stored
    },
    wait: (now) => (current.used < limit ? 0 : current.start + lengthMs - now),
    count() {
      stored = current = { start: current.start, used: current.used + 1 }
    },
    remaining: () => Math.max(0, limit - current.used),
    reset: (now) => current.start + lengthMs - now,
  }
}

function rollingWindow(limit: number, lengthMs: number): Meter & { clear(): void } {
  let stored: number[] = []
  let current = stored
  const latestTime = (now: number) => Math.max(now, ...stored.slice(-1))
  return {
    advance(now) {
      if (latestTime(now) - now > lengthMs / 12) stored = stored.map((call) => Math.min(call, now))
      current = stored.filter((call) => latestTime(now) - call < lengthMs)
    },
    wait: (now) => (current.length < limit ? 0 : current[0]! + lengthMs - now),
    count(now) {
      stored = current = [...current, latestTime(now)].slice(-limit)
    },
    remaining: () => limit - current.length,
    reset: (now) => (current[0] ?? now) + lengthMs - now,
    clear() {
      stored = current = []
    },
  }
}

/** Token buckets count in ten-thousandths of a call. */
const UNITS_PER_CALL = 10_000

/** Creates a meter that refills by `perMs` units per millisecond up to `capacity`. */
function tokenBucket(capacity: number, perMs: number): Meter {
  let stored = { tokens: capacity, at: -Infinity }
  let current = stored
  return {
    advance(now) {
      if (stored.at - now > MINUTE / 12) stored = { tokens: stored.tokens, at: now }
      const refill = () => ({ tokens: Math.min(capacity, stored.tokens + (now - stored.at) * perMs), at: now })
      current = now > stored.at ? refill() : stored
    },
    wait: (now) =>
      current.tokens >= UNITS_PER_CALL ? 0 : Math.ceil((UNITS_PER_CALL - current.tokens) / perMs) + current.at - now,
    count() {
      stored = current = { tokens: Math.max(0, current.tokens - UNITS_PER_CALL), at: current.at }
    },
    remaining: () => Math.floor(current.tokens / UNITS_PER_CALL),
    reset: (now) => Math.ceil((capacity - current.tokens) / perMs) + current.at - now,
  }
}

// The start of the Indian day (UTC+5:30) relative to the UTC day. Not imported from platform/india-time.ts: the model must not share code with the engines that it checks.
const INDIAN_DAY_START_MS = -330 * MINUTE

export class ModelLimiter implements Limiter {
  readonly #meters = new Map<string, Meter>()
  readonly #cooldowns = new Map<string, { start: number; level: number }>()
  readonly #skills = new Map<string, { day: number; seen: Set<number> }>()
  readonly #limited = new Map<string, LimitedCaller>()

  decide(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    recruiter: string | undefined,
    now: number,
  ): RateLimitDecision {
    const { buckets, shared } = limits
    const meters = [
      ...this.#bucket(`${key} key`, buckets.key),
      ...this.#bucket(`${key} ${limitClass}`, buckets[limitClass]),
    ]
    const bucketNames = ['key', limitClass] as BucketName[]
    if (recruiter !== undefined) {
      meters.push(...this.#bucket(`${key} for ${recruiter}`, buckets.recruiter))
      bucketNames.push('recruiter')
    }
    if (shared) {
      meters.push(...this.#bucket(`${shared.id} key`, shared.limits.buckets.key))
      meters.push(...this.#bucket(`${shared.id} ${limitClass}`, shared.limits.buckets[limitClass]))
      bucketNames.push('key', limitClass)
    }
    for (const meter of meters) meter.advance(now)

    const minuteMeter = this.#bucket(`${key} ${limitClass}`, buckets[limitClass])[1]!
    const createDecision = (
      errorCode: RateLimitDecision['errorCode'],
      wait: number,
      exceeded?: ExceededMeter,
    ): RateLimitDecision => ({
      errorCode,
      exceeded,
      retryAfter: Math.ceil(wait / 1000),
      limit: buckets[limitClass].minute,
      remaining: minuteMeter.remaining(),
      reset: Math.ceil(minuteMeter.reset(now) / 1000),
    })
    const cooldownMs = this.cooldown(key, limits, now)
    if (cooldownMs > 0)
      return {
        ...createDecision('COOLDOWN', cooldownMs),
        ...(cooldownMs > this.#cooldownRemaining(key, now) ? { isSharedCooldown: true } : {}),
      }
    const waitsMs = meters.map((meter) => meter.wait(now))
    const longestWaitMs = Math.max(...waitsMs)
    if (longestWaitMs > 0) {
      const keyCooldownMs = this.#countRejection(key, limits.rejectionsBeforeCooldown, now)
      const sharedCooldownMs = shared ? this.#countRejection(shared.id, shared.limits.rejectionsBeforeCooldown, now) : 0
      const longestIndex = waitsMs.indexOf(longestWaitMs)
      const bucketIndex = Math.floor(longestIndex / METER_NAMES.length)
      const exceeded: ExceededMeter = {
        bucket: bucketNames[bucketIndex]!,
        meter: METER_NAMES[longestIndex % METER_NAMES.length]!,
        startsCooldown: keyCooldownMs > 0,
        ...(shared && bucketIndex >= bucketNames.length - 2 ? { shared: true } : {}),
        ...(sharedCooldownMs > 0 ? { startsSharedCooldown: true } : {}),
      }
      return createDecision('RATE_LIMITED', Math.max(longestWaitMs, keyCooldownMs, sharedCooldownMs), exceeded)
    }
    for (const meter of meters) meter.count(now)
    return createDecision(undefined, 0)
  }

  minuteWindow(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): MinuteWindow {
    const minuteMeter = this.#bucket(`${key} ${limitClass}`, limits.buckets[limitClass])[1]!
    minuteMeter.advance(now)
    return {
      limit: limits.buckets[limitClass].minute,
      remaining: minuteMeter.remaining(),
      reset: Math.ceil(minuteMeter.reset(now) / 1000),
    }
  }

  cooldown(key: string, { shared }: KeyLimits, now: number): number {
    return Math.max(this.#cooldownRemaining(key, now), shared ? this.#cooldownRemaining(shared.id, now) : 0)
  }

  recordPage(key: string, limits: KeyLimits, now: number): LimitError | undefined {
    const counted = countedTogether(key, limits, 'browsePagesPerHour')
    const waitsMs: number[] = counted.map(({ id }) => this.#cooldownRemaining(id, now))
    if (Math.max(...waitsMs) === 0) {
      const pageMeters = counted.map(({ id, limit }) => this.#meter(`${id} pages`, () => rollingWindow(limit, HOUR)))
      for (const meter of pageMeters) meter.advance(now)
      const areFull = pageMeters.map((meter) => meter.wait(now) > 0)
      if (!areFull.includes(true)) {
        for (const meter of pageMeters) meter.count(now)
        return undefined
      }
      counted.forEach(({ id }, i) => {
        if (areFull[i]) waitsMs[i] = this.#beginCooldown(id, now)
      })
    }
    return createLimitError('COOLDOWN', waitsMs)
  }

  recordSkills(key: string, limits: KeyLimits, skills: readonly number[], now: number): LimitError | undefined {
    const currentDay = Math.floor((now - INDIAN_DAY_START_MS) / DAY)
    const counted = countedTogether(key, limits, 'skillsPerDay').map(({ id, limit }) => {
      const state = this.#skills.get(id) ?? { day: currentDay, seen: new Set() }
      this.#skills.set(id, state)
      if (currentDay > state.day) [state.day, state.seen] = [currentDay, new Set()]
      else if (state.day * DAY + INDIAN_DAY_START_MS - now > DAY / 12) state.day = currentDay
      const seenSkills = new Set([...state.seen, ...skills])
      const isExceeded = seenSkills.size > state.seen.size && seenSkills.size > limit
      return { state, seenSkills, waitMs: isExceeded ? (state.day + 1) * DAY + INDIAN_DAY_START_MS - now : 0 }
    })
    if (counted.some(({ waitMs }) => waitMs > 0))
      return createLimitError(
        'DAILY_CAP',
        counted.map(({ waitMs }) => waitMs),
      )
    for (const { state, seenSkills } of counted) state.seen = seenSkills
    return undefined
  }

  take = (caller: string, rules: readonly Rule[], now: number) => this.#decideForCaller(caller, rules, now, 'take')
  peek = (caller: string, rules: readonly Rule[], now: number) => this.#decideForCaller(caller, rules, now, 'peek')
  charge = (caller: string, rules: readonly Rule[], now: number) => this.#decideForCaller(caller, rules, now, 'charge')

  #decideForCaller(caller: string, rules: readonly Rule[], now: number, mode: string): CallerDecision {
    const meters = rules.map((rule) => this.#meter(`${caller} under ${rule.name}`, () => createMeter(rule)))
    for (const meter of meters) meter.advance(now)
    const waitsMs = meters.map((meter) => meter.wait(now))
    const longestWaitMs = Math.max(0, ...waitsMs)
    if (mode === 'charge' || (mode === 'take' && longestWaitMs === 0)) {
      meters.forEach((meter, i) => {
        meter.count(now)
        const { name, listed } = rules[i]!
        if (listed && meter.wait(now) > 0)
          this.#limited.set(`${name} ${caller}`, { caller, rule: name, until: now + meter.wait(now) })
      })
    }
    return {
      rejectedBy: longestWaitMs > 0 ? rules[waitsMs.indexOf(longestWaitMs)]!.name : undefined,
      retryAfter: Math.ceil(longestWaitMs / 1000),
      states: meters.map((meter, i) => ({
        rule: rules[i]!.name,
        limit: rules[i]!.limit,
        remaining: meter.remaining(),
        reset: Math.ceil(meter.reset(now) / 1000),
      })),
    }
  }

  listLimited(now: number): LimitedCaller[] {
    for (const [id, { until }] of this.#limited) if (until <= now) this.#limited.delete(id)
    return [...this.#limited.values()]
  }

  close() {}

  #cooldownRemaining(key: string, now: number): number {
    const cooldown = this.#cooldowns.get(key)
    if (!cooldown) return 0
    const lengthMs = cooldownSeconds(cooldown.level) * 1000
    if (cooldown.start - now > 5_000) cooldown.start = now - lengthMs
    return Math.max(0, cooldown.start + lengthMs - now)
  }

  #beginCooldown(key: string, now: number): number {
    const previousCooldown = this.#cooldowns.get(key)
    const level = previousCooldown && now - previousCooldown.start <= HOUR ? previousCooldown.level + 1 : 1
    this.#cooldowns.set(key, { start: now, level })
    const rejectionMeter = this.#meters.get(`${key} rejections`) as ReturnType<typeof rollingWindow> | undefined
    rejectionMeter?.clear()
    return cooldownSeconds(level) * 1000
  }

  /** Counts a rejection. Returns the length of the cooldown that it starts, or 0. */
  #countRejection(key: string, limit: number, now: number): number {
    const rejectionMeter = this.#meter(`${key} rejections`, () => rollingWindow(limit, MINUTE))
    rejectionMeter.advance(now)
    rejectionMeter.count(now)
    return rejectionMeter.remaining() === 0 ? this.#beginCooldown(key, now) : 0
  }

  /** Returns the three meters of a bucket: tokens, minute, day. */
  #bucket(name: string, { refillPerMs, capacity, minute, day }: Bucket): Meter[] {
    return [
      this.#meter(`${name} tokens`, () => tokenBucket(capacity, refillPerMs)),
      this.#meter(`${name} minute`, () => alignedWindow(minute, MINUTE, 0)),
      this.#meter(`${name} day`, () => alignedWindow(day, DAY, INDIAN_DAY_START_MS)),
    ]
  }

  #meter(name: string, create: () => Meter): Meter {
    const meter = this.#meters.get(name) ?? create()
    this.#meters.set(name, meter)
    return meter
  }
}

function createMeter({ kind, limit, seconds }: Rule): Meter {
  if (kind === 'fixed') return fixedWindow(limit, seconds * 1000)
  if (kind === 'rolling') return rollingWindow(limit, seconds * 1000)
  return tokenBucket(limit * UNITS_PER_CALL, (limit * UNITS_PER_CALL) / (seconds * 1000))
}

function cooldownSeconds(level: number): number {
  return [60, 120, 240, 480][level - 1] ?? 900
}

/** Returns the key, and the organisation if the key shares limits, each with its limit. */
function countedTogether(key: string, limits: KeyLimits, limit: 'browsePagesPerHour' | 'skillsPerDay') {
  const own = { id: key, limit: limits[limit] }
  return limits.shared ? [own, { id: limits.shared.id, limit: limits.shared.limits[limit] }] : [own]
}

/** Returns the error for the longer wait; the first one is that of the key. */
function createLimitError(code: LimitError['code'], [keyMs, sharedMs = 0]: number[]): LimitError {
  const retryAfter = Math.ceil(Math.max(keyMs!, sharedMs) / 1000)
  return sharedMs > keyMs! ? { code, retryAfter, shared: true } : { code, retryAfter }
}
