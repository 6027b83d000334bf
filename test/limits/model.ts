import {
  type Decision,
  type Limited,
  type Limiter,
  METERS,
  type MinuteWindow,
  type Over,
  type Refusal,
  type Rule,
  type Standings,
} from '../../server/access/limits/limiter.ts'
import type { Bucket, KeyLimits, LimitClass } from '../../server/access/limits/table.ts'
import { DAY, HOUR, MINUTE } from '../../server/platform/clock.ts'

/**
 * The rules again, as slowly and plainly as they can be put, for tests to hold the engines against: one object a meter in a plain Map,
 * nothing packed, nothing forgotten. A meter is settled for a moment first; then it says how long until it has room, and counts.
 * What it has stored changes only when it counts, or when the clock was set far back.
 */
interface Meter {
  settle(now: number): void
  wait(now: number): number
  count(now: number): void
  remaining(): number
  reset(now: number): number
}

/** Aligned to the clock: a minute, or a day that starts at `offset`. */
function alignedWindow(limit: number, length: number, offset: number): Meter {
  let stored = { window: -1, used: 0 }
  let seen = stored
  const start = (window: number) => window * length + offset
  return {
    settle(now) {
      const current = Math.floor((now - offset) / length)
      if (start(stored.window) - now > length / 12) stored = { window: current, used: stored.used }
      seen = current > stored.window ? { window: current, used: 0 } : stored
    },
    wait: (now) => (seen.used < limit ? 0 : start(seen.window + 1) - now),
    count() {
      stored = seen = { window: seen.window, used: seen.used + 1 }
    },
    remaining: () => Math.max(0, limit - seen.used),
    reset: (now) => start(seen.window + 1) - now,
  }
}

/** Starts with the first call. */
function fixedWindow(limit: number, length: number): Meter {
  let stored = { start: -Infinity, used: 0 }
  let seen = stored
  return {
    settle(now) {
      if (stored.start - now > length / 12) stored = { start: now, used: stored.used }
      seen = now >= stored.start + length ? { start: now, used: 0 } : stored
    },
    wait: (now) => (seen.used < limit ? 0 : seen.start + length - now),
    count() {
      stored = seen = { start: seen.start, used: seen.used + 1 }
    },
    remaining: () => Math.max(0, limit - seen.used),
    reset: (now) => seen.start + length - now,
  }
}

function rollingWindow(limit: number, length: number): Meter & { clear(): void } {
  let stored: number[] = []
  let seen = stored
  const time = (now: number) => Math.max(now, ...stored.slice(-1))
  return {
    settle(now) {
      if (time(now) - now > length / 12) stored = stored.map((call) => Math.min(call, now))
      seen = stored.filter((call) => time(now) - call < length)
    },
    wait: (now) => (seen.length < limit ? 0 : seen[0]! + length - now),
    count(now) {
      stored = seen = [...seen, time(now)].slice(-limit)
    },
    remaining: () => limit - seen.length,
    reset: (now) => (seen[0] ?? now) + length - now,
    clear() {
      stored = seen = []
    },
  }
}

/** Fills by `perMs` up to `most`; a call takes 10,000. */
function tokenBucket(most: number, perMs: number): Meter {
  let stored = { tokens: most, at: -Infinity }
  let seen = stored
  return {
    settle(now) {
      if (stored.at - now > MINUTE / 12) stored = { tokens: stored.tokens, at: now }
      const refilled = () => ({ tokens: Math.min(most, stored.tokens + (now - stored.at) * perMs), at: now })
      seen = now > stored.at ? refilled() : stored
    },
    wait: (now) => (seen.tokens >= 10_000 ? 0 : Math.ceil((10_000 - seen.tokens) / perMs) + seen.at - now),
    count() {
      stored = seen = { tokens: Math.max(0, seen.tokens - 10_000), at: seen.at }
    },
    remaining: () => Math.floor(seen.tokens / 10_000),
    reset: (now) => Math.ceil((most - seen.tokens) / perMs) + seen.at - now,
  }
}

const INDIA = -330 * MINUTE

export class ModelLimiter implements Limiter {
  readonly #meters = new Map<string, Meter>()
  readonly #cooldowns = new Map<string, { start: number; level: number }>()
  readonly #skills = new Map<string, { day: number; seen: Set<number> }>()
  readonly #limited = new Map<string, Limited>()

  decide(key: string, limits: KeyLimits, limitClass: LimitClass, recruiter: string | undefined, now: number): Decision {
    const { buckets } = limits
    const meters = [
      ...this.#bucket(`${key} key`, buckets.key),
      ...this.#bucket(`${key} ${limitClass}`, buckets[limitClass]),
    ]
    if (recruiter !== undefined) meters.push(...this.#bucket(`${key} for ${recruiter}`, buckets.recruiter))
    for (const meter of meters) meter.settle(now)

    const minute = this.#bucket(`${key} ${limitClass}`, buckets[limitClass])[1]!
    const answer = (refused: Decision['refused'], wait: number, over?: Over): Decision => ({
      refused,
      over,
      retryAfter: Math.ceil(wait / 1000),
      limit: buckets[limitClass].minute,
      remaining: minute.remaining(),
      reset: Math.ceil(minute.reset(now) / 1000),
    })
    const left = this.#cooldownLeft(key, now)
    if (left > 0) return answer('COOLDOWN', left)
    const waits = meters.map((meter) => meter.wait(now))
    const wait = Math.max(...waits)
    if (wait > 0) {
      const refusals = this.#refusals(key)
      refusals.settle(now)
      refusals.count(now)
      const rests = refusals.remaining() === 0
      const worst = waits.indexOf(wait)
      const bucket = (['key', limitClass, 'recruiter'] as const)[Math.floor(worst / METERS.length)]!
      const over = { bucket, meter: METERS[worst % METERS.length]!, rests }
      return answer('RATE_LIMITED', rests ? Math.max(wait, this.#beginCooldown(key, now)) : wait, over)
    }
    for (const meter of meters) meter.count(now)
    return answer(undefined, 0)
  }

  minute(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): MinuteWindow {
    const minute = this.#bucket(`${key} ${limitClass}`, limits.buckets[limitClass])[1]!
    minute.settle(now)
    return {
      limit: limits.buckets[limitClass].minute,
      remaining: minute.remaining(),
      reset: Math.ceil(minute.reset(now) / 1000),
    }
  }

  cooldown(key: string, now: number): number {
    return this.#cooldownLeft(key, now)
  }

  browsePage(key: string, limits: KeyLimits, now: number): Refusal | undefined {
    let left = this.#cooldownLeft(key, now)
    if (left === 0) {
      const pages = this.#meter(`${key} pages`, () => rollingWindow(limits.browsePagesPerHour, HOUR))
      pages.settle(now)
      if (pages.wait(now) === 0) {
        pages.count(now)
        return undefined
      }
      left = this.#beginCooldown(key, now)
    }
    return { code: 'COOLDOWN', retryAfter: Math.ceil(left / 1000) }
  }

  seeSkills(key: string, limits: KeyLimits, skills: readonly number[], now: number): Refusal | undefined {
    const today = Math.floor((now - INDIA) / DAY)
    const known = this.#skills.get(key) ?? { day: today, seen: new Set() }
    this.#skills.set(key, known)
    if (today > known.day) [known.day, known.seen] = [today, new Set()]
    else if (known.day * DAY + INDIA - now > DAY / 12) known.day = today
    const both = new Set([...known.seen, ...skills])
    if (both.size > known.seen.size && both.size > limits.skillsPerDay)
      return { code: 'DAILY_CAP', retryAfter: Math.ceil(((known.day + 1) * DAY + INDIA - now) / 1000) }
    known.seen = both
    return undefined
  }

  take = (caller: string, rules: readonly Rule[], now: number) => this.#caller(caller, rules, now, 'take')
  peek = (caller: string, rules: readonly Rule[], now: number) => this.#caller(caller, rules, now, 'peek')
  charge = (caller: string, rules: readonly Rule[], now: number) => this.#caller(caller, rules, now, 'charge')

  #caller(caller: string, rules: readonly Rule[], now: number, mode: string): Standings {
    const meters = rules.map((rule) => this.#meter(`${caller} under ${rule.name}`, () => meterOf(rule)))
    for (const meter of meters) meter.settle(now)
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
      refused: wait > 0 ? rules[waits.indexOf(wait)]!.name : undefined,
      retryAfter: Math.ceil(wait / 1000),
      standings: meters.map((meter, i) => ({
        rule: rules[i]!.name,
        limit: rules[i]!.limit,
        remaining: meter.remaining(),
        reset: Math.ceil(meter.reset(now) / 1000),
      })),
    }
  }

  limited(now: number): Limited[] {
    for (const [id, { until }] of this.#limited) if (until <= now) this.#limited.delete(id)
    return [...this.#limited.values()]
  }

  close() {}

  #cooldownLeft(key: string, now: number): number {
    const cooldown = this.#cooldowns.get(key)
    if (!cooldown) return 0
    const length = cooldownSeconds(cooldown.level) * 1000
    if (cooldown.start - now > 5_000) cooldown.start = now - length
    return Math.max(0, cooldown.start + length - now)
  }

  #beginCooldown(key: string, now: number): number {
    const last = this.#cooldowns.get(key)
    const level = last && now - last.start <= HOUR ? last.level + 1 : 1
    this.#cooldowns.set(key, { start: now, level })
    this.#refusals(key).clear()
    return cooldownSeconds(level) * 1000
  }

  #refusals(key: string) {
    return this.#meter(`${key} refusals`, () => rollingWindow(100, MINUTE)) as ReturnType<typeof rollingWindow>
  }

  /** Its three meters, the minute's the second. */
  #bucket(name: string, { refill, capacity, minute, day }: Bucket): Meter[] {
    return [
      this.#meter(`${name} tokens`, () => tokenBucket(capacity, refill)),
      this.#meter(`${name} minute`, () => alignedWindow(minute, MINUTE, 0)),
      this.#meter(`${name} day`, () => alignedWindow(day, DAY, INDIA)),
    ]
  }

  #meter(name: string, make: () => Meter): Meter {
    const meter = this.#meters.get(name) ?? make()
    this.#meters.set(name, meter)
    return meter
  }
}

function meterOf({ kind, limit, seconds }: Rule): Meter {
  if (kind === 'fixed') return fixedWindow(limit, seconds * 1000)
  if (kind === 'rolling') return rollingWindow(limit, seconds * 1000)
  return tokenBucket(limit * 10_000, (limit * 10_000) / (seconds * 1000))
}

function cooldownSeconds(level: number): number {
  return [60, 120, 240, 480][level - 1] ?? 900
}
