import {
  type ExceededMeter,
  type LimitError,
  type Limited,
  type Limiter,
  METERS,
  type MinuteWindow,
  type RateLimitDecision,
  type Rule,
  type RuleStates,
} from '../../server/access/limits/limiter.ts'
import type { Bucket, KeyLimits, LimitClass } from '../../server/access/limits/table.ts'
import { DAY, HOUR, MINUTE } from '../../server/platform/clock.ts'

/**
 * Slow and simple reference implementation of the limits, which tests compare with the engines: one object per meter in a Map, nothing
 * packed, nothing deleted. `advance` moves a meter to a time; then `wait` returns the time until a call is allowed, and `count` counts
 * one. The stored state changes only when a call is counted, or when the clock was set far back.
 */
interface Meter {
  advance(now: number): void
  wait(now: number): number
  count(now: number): void
  remaining(): number
  reset(now: number): number
}

/** A window aligned to the clock: a minute, or a day that starts at `offset`. */
function alignedWindow(limit: number, length: number, offset: number): Meter {
  let stored = { window: -1, used: 0 }
  let current = stored
  const start = (window: number) => window * length + offset
  return {
    advance(now) {
      const index = Math.floor((now - offset) / length)
      if (start(stored.window) - now > length / 12) stored = { window: index, used: stored.used }
      current = index > stored.window ? { window: index, used: 0 } : stored
    },
    wait: (now) => (current.used < limit ? 0 : start(current.window + 1) - now),
    count() {
      stored = current = { window: current.window, used: current.used + 1 }
    },
    remaining: () => Math.max(0, limit - current.used),
    reset: (now) => start(current.window + 1) - now,
  }
}

/** A window that starts with the first call. */
function fixedWindow(limit: number, length: number): Meter {
  let stored = { start: -Infinity, used: 0 }
  let current = stored
  return {
    advance(now) {
      if (stored.start - now > length / 12) stored = { start: now, used: stored.used }
      current = now >= stored.start + length ? { start: now, used: 0 } : stored
    },
    wait: (now) => (current.used < limit ? 0 : current.start + length - now),
    count() {
      stored = current = { start: current.start, used: current.used + 1 }
    },
    remaining: () => Math.max(0, limit - current.used),
    reset: (now) => current.start + length - now,
  }
}

function rollingWindow(limit: number, length: number): Meter & { clear(): void } {
  let stored: number[] = []
  let current = stored
  const time = (now: number) => Math.max(now, ...stored.slice(-1))
  return {
    advance(now) {
      if (time(now) - now > length / 12) stored = stored.map((call) => Math.min(call, now))
      current = stored.filter((call) => time(now) - call < length)
    },
    wait: (now) => (current.length < limit ? 0 : current[0]! + length - now),
    count(now) {
      stored = current = [...current, time(now)].slice(-limit)
    },
    remaining: () => limit - current.length,
    reset: (now) => (current[0] ?? now) + length - now,
    clear() {
      stored = current = []
    },
  }
}

/** Refills by `perMs` units up to `capacity`; a call takes 10,000 units. */
function tokenBucket(capacity: number, perMs: number): Meter {
  let stored = { tokens: capacity, at: -Infinity }
  let current = stored
  return {
    advance(now) {
      if (stored.at - now > MINUTE / 12) stored = { tokens: stored.tokens, at: now }
      const refilled = () => ({ tokens: Math.min(capacity, stored.tokens + (now - stored.at) * perMs), at: now })
      current = now > stored.at ? refilled() : stored
    },
    wait: (now) => (current.tokens >= 10_000 ? 0 : Math.ceil((10_000 - current.tokens) / perMs) + current.at - now),
    count() {
      stored = current = { tokens: Math.max(0, current.tokens - 10_000), at: current.at }
    },
    remaining: () => Math.floor(current.tokens / 10_000),
    reset: (now) => Math.ceil((capacity - current.tokens) / perMs) + current.at - now,
  }
}

// Not imported from platform/india-time.ts: the model must not share code with the engines that it checks.
const DAY_OFFSET_MS = -330 * MINUTE

export class ModelLimiter implements Limiter {
  readonly #meters = new Map<string, Meter>()
  readonly #cooldowns = new Map<string, { start: number; level: number }>()
  readonly #skills = new Map<string, { day: number; seen: Set<number> }>()
  readonly #limited = new Map<string, Limited>()

  decide(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    recruiter: string | undefined,
    now: number,
  ): RateLimitDecision {
    const { buckets } = limits
    const meters = [
      ...this.#bucket(`${key} key`, buckets.key),
      ...this.#bucket(`${key} ${limitClass}`, buckets[limitClass]),
    ]
    if (recruiter !== undefined) meters.push(...this.#bucket(`${key} for ${recruiter}`, buckets.recruiter))
    for (const meter of meters) meter.advance(now)

    const minute = this.#bucket(`${key} ${limitClass}`, buckets[limitClass])[1]!
    const decision = (
      errorCode: RateLimitDecision['errorCode'],
      wait: number,
      exceeded?: ExceededMeter,
    ): RateLimitDecision => ({
      errorCode,
      exceeded,
      retryAfter: Math.ceil(wait / 1000),
      limit: buckets[limitClass].minute,
      remaining: minute.remaining(),
      reset: Math.ceil(minute.reset(now) / 1000),
    })
    const remaining = this.#cooldownRemaining(key, now)
    if (remaining > 0) return decision('COOLDOWN', remaining)
    const waits = meters.map((meter) => meter.wait(now))
    const wait = Math.max(...waits)
    if (wait > 0) {
      const rejections = this.#rejections(key)
      rejections.advance(now)
      rejections.count(now)
      const startsCooldown = rejections.remaining() === 0
      const longest = waits.indexOf(wait)
      const bucket = (['key', limitClass, 'recruiter'] as const)[Math.floor(longest / METERS.length)]!
      const exceeded = { bucket, meter: METERS[longest % METERS.length]!, startsCooldown }
      return decision('RATE_LIMITED', startsCooldown ? Math.max(wait, this.#beginCooldown(key, now)) : wait, exceeded)
    }
    for (const meter of meters) meter.count(now)
    return decision(undefined, 0)
  }

  minuteWindow(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): MinuteWindow {
    const minute = this.#bucket(`${key} ${limitClass}`, limits.buckets[limitClass])[1]!
    minute.advance(now)
    return {
      limit: limits.buckets[limitClass].minute,
      remaining: minute.remaining(),
      reset: Math.ceil(minute.reset(now) / 1000),
    }
  }

  cooldown(key: string, now: number): number {
    return this.#cooldownRemaining(key, now)
  }

  recordPage(key: string, limits: KeyLimits, now: number): LimitError | undefined {
    let wait = this.#cooldownRemaining(key, now)
    if (wait === 0) {
      const pages = this.#meter(`${key} pages`, () => rollingWindow(limits.browsePagesPerHour, HOUR))
      pages.advance(now)
      if (pages.wait(now) === 0) {
        pages.count(now)
        return undefined
      }
      wait = this.#beginCooldown(key, now)
    }
    return { code: 'COOLDOWN', retryAfter: Math.ceil(wait / 1000) }
  }

  recordSkills(key: string, limits: KeyLimits, skills: readonly number[], now: number): LimitError | undefined {
    const today = Math.floor((now - DAY_OFFSET_MS) / DAY)
    const state = this.#skills.get(key) ?? { day: today, seen: new Set() }
    this.#skills.set(key, state)
    if (today > state.day) [state.day, state.seen] = [today, new Set()]
    else if (state.day * DAY + DAY_OFFSET_MS - now > DAY / 12) state.day = today
    const union = new Set([...state.seen, ...skills])
    if (union.size > state.seen.size && union.size > limits.skillsPerDay)
      return { code: 'DAILY_CAP', retryAfter: Math.ceil(((state.day + 1) * DAY + DAY_OFFSET_MS - now) / 1000) }
    state.seen = union
    return undefined
  }

  take = (caller: string, rules: readonly Rule[], now: number) => this.#caller(caller, rules, now, 'take')
  peek = (caller: string, rules: readonly Rule[], now: number) => this.#caller(caller, rules, now, 'peek')
  charge = (caller: string, rules: readonly Rule[], now: number) => this.#caller(caller, rules, now, 'charge')

  #caller(caller: string, rules: readonly Rule[], now: number, mode: string): RuleStates {
    const meters = rules.map((rule) => this.#meter(`${caller} under ${rule.name}`, () => createMeter(rule)))
    for (const meter of meters) meter.advance(now)
    const waits = meters.map((meter) => meter.wait(now))
    const wait = Math.max(0, ...waits)
    if (mode === 'charge' || (mode === 'take' && wait === 0)) {
      meters.forEach((meter, i) => {
        meter.count(now)
        const { name, listed } = rules[i]!
        if (listed && meter.wait(now) > 0)
          this.#limited.set(`${name} ${caller}`, { caller, rule: name, until: now + meter.wait(now) })
      })
    }
    return {
      rejectedBy: wait > 0 ? rules[waits.indexOf(wait)]!.name : undefined,
      retryAfter: Math.ceil(wait / 1000),
      states: meters.map((meter, i) => ({
        rule: rules[i]!.name,
        limit: rules[i]!.limit,
        remaining: meter.remaining(),
        reset: Math.ceil(meter.reset(now) / 1000),
      })),
    }
  }

  listLimited(now: number): Limited[] {
    for (const [id, { until }] of this.#limited) if (until <= now) this.#limited.delete(id)
    return [...this.#limited.values()]
  }

  close() {}

  #cooldownRemaining(key: string, now: number): number {
    const cooldown = this.#cooldowns.get(key)
    if (!cooldown) return 0
    const length = cooldownSeconds(cooldown.level) * 1000
    if (cooldown.start - now > 5_000) cooldown.start = now - length
    return Math.max(0, cooldown.start + length - now)
  }

  #beginCooldown(key: string, now: number): number {
    const previous = this.#cooldowns.get(key)
    const level = previous && now - previous.start <= HOUR ? previous.level + 1 : 1
    this.#cooldowns.set(key, { start: now, level })
    this.#rejections(key).clear()
    return cooldownSeconds(level) * 1000
  }

  #rejections(key: string) {
    return this.#meter(`${key} rejections`, () => rollingWindow(100, MINUTE)) as ReturnType<typeof rollingWindow>
  }

  /** Returns the three meters of a bucket: tokens, minute, day. */
  #bucket(name: string, { refillPerMs, capacity, minute, day }: Bucket): Meter[] {
    return [
      this.#meter(`${name} tokens`, () => tokenBucket(capacity, refillPerMs)),
      this.#meter(`${name} minute`, () => alignedWindow(minute, MINUTE, 0)),
      this.#meter(`${name} day`, () => alignedWindow(day, DAY, DAY_OFFSET_MS)),
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
  return tokenBucket(limit * 10_000, (limit * 10_000) / (seconds * 1000))
}

function cooldownSeconds(level: number): number {
  return [60, 120, 240, 480][level - 1] ?? 900
}
