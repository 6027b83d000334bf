import { indianDayNumber, indianDayStart } from '../../platform/india-time.ts'
import type { Limiter, MaybePromise, RateLimitDecision } from './limiter.ts'
import type { BucketName, KeyLimits, LimitClass } from './table.ts'
import { toWholeSeconds } from './windows.ts'

/** The number of calls that were charged to a bucket of a key on a day. */
export interface DayCount {
  key: string
  bucket: BucketName
  /** Days since 1970-01-01 in India. */
  day: number
  count: number
}

/** Counts of all processes that survive a restart of the shared engine. */
export interface DayCountStore {
  /** Returns the counts of the current day. */
  load(): Promise<DayCount[]>
  /** Adds the counts, and returns the totals of these buckets. */
  add(counts: DayCount[]): Promise<DayCount[]>
}

interface CountedBucket extends DayCount {
  /** The part of `count` that is not stored yet. */
  unstored: number
}

/**
 * Enforces the daily limits of keys although the shared engine may lose its counts, for example when Redis restarts without
 * persistence. Each process counts the calls it allows, adds them to a durable store about once a second, and gets the totals of all
 * processes in return. A call is rejected if the engine rejects it, or if the durable count has reached the limit.
 */
export class DurableDayCaps implements Limiter {
  readonly #engine: Limiter
  readonly #store: DayCountStore
  readonly #buckets = new Map<string, CountedBucket>()
  #newestDay = 0

  constructor(engine: Limiter, store: DayCountStore) {
    this.#engine = engine
    this.#store = store
  }

  /** Reads the counts of all processes; called at the start and when the shared engine responds again. */
  async refresh(): Promise<void> {
    this.#applyTotals(await this.#store.load())
  }

  /** Stores the counts since the last call. */
  async flush(): Promise<void> {
    const counts: DayCount[] = []
    for (const bucket of this.#buckets.values()) {
      if (bucket.unstored === 0) continue
      counts.push({ key: bucket.key, bucket: bucket.bucket, day: bucket.day, count: bucket.unstored })
    }
    if (counts.length === 0) return
    for (const { key, bucket, count } of counts) this.#buckets.get(idOf(key, bucket))!.unstored -= count
    try {
      this.#applyTotals(await this.#store.add(counts))
    } catch (error) {
      for (const { key, bucket, day, count } of counts) {
        const counted = this.#buckets.get(idOf(key, bucket))
        if (counted?.day === day) counted.unstored += count
      }
      throw error
    }
  }

  decide(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    recruiter: string | undefined,
    now: number,
  ): MaybePromise<RateLimitDecision> {
    const capped = cappedBuckets(limits, limitClass)
    if (capped.length === 0) return this.#engine.decide(key, limits, limitClass, recruiter, now)
    const day = indianDayNumber(now)
    const exhausted = capped.find((name) => this.#countOf(key, name, day) >= limits.buckets[name].day)
    if (exhausted !== undefined) return this.#reject(key, limits, limitClass, exhausted, now)
    const pending = this.#engine.decide(key, limits, limitClass, recruiter, now)
    const count = (decision: RateLimitDecision) => {
      if (!decision.errorCode) for (const name of capped) this.#count(key, name, day)
      return decision
    }
    return pending instanceof Promise ? pending.then(count) : count(pending)
  }

  minuteWindow: Limiter['minuteWindow'] = (...args) => this.#engine.minuteWindow(...args)
  cooldown: Limiter['cooldown'] = (...args) => this.#engine.cooldown(...args)
  recordPage: Limiter['recordPage'] = (...args) => this.#engine.recordPage(...args)
  recordSkills: Limiter['recordSkills'] = (...args) => this.#engine.recordSkills(...args)
  take: Limiter['take'] = (...args) => this.#engine.take(...args)
  peek: Limiter['peek'] = (...args) => this.#engine.peek(...args)
  charge: Limiter['charge'] = (...args) => this.#engine.charge(...args)
  listLimited: Limiter['listLimited'] = (now) => this.#engine.listLimited(now)
  close: Limiter['close'] = () => this.#engine.close()

  async #reject(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    bucket: BucketName,
    now: number,
  ): Promise<RateLimitDecision> {
    // During a cooldown, the engine rejects the call and charges nothing.
    const isInCooldown = (await this.#engine.cooldown(key, limits, now)) > 0
    if (isInCooldown) return this.#engine.decide(key, limits, limitClass, undefined, now)
    return {
      ...(await this.#engine.minuteWindow(key, limits, limitClass, now)),
      errorCode: 'RATE_LIMITED',
      exceeded: { bucket, meter: 'day', startsCooldown: false },
      retryAfter: toWholeSeconds(indianDayStart(indianDayNumber(now) + 1) - now),
    }
  }

  #countOf(key: string, bucket: BucketName, day: number): number {
    const counted = this.#buckets.get(idOf(key, bucket))
    return counted?.day === day ? counted.count : 0
  }

  #count(key: string, bucket: BucketName, day: number): void {
    const counted = this.#buckets.get(idOf(key, bucket))
    if (counted?.day === day) {
      counted.count++
      counted.unstored++
    } else if (!counted || counted.day < day) {
      this.#deleteDaysBefore(day)
      this.#buckets.set(idOf(key, bucket), { key, bucket, day, count: 1, unstored: 1 })
    }
  }

  /** Takes over the totals of all processes, plus the calls of this process that they do not contain yet. */
  #applyTotals(totals: DayCount[]): void {
    for (const total of totals) {
      const counted = this.#buckets.get(idOf(total.key, total.bucket))
      if (counted && counted.day > total.day) continue
      const unstored = counted?.day === total.day ? counted.unstored : 0
      this.#buckets.set(idOf(total.key, total.bucket), { ...total, count: total.count + unstored, unstored })
    }
  }

  #deleteDaysBefore(day: number): void {
    if (day <= this.#newestDay) return
    this.#newestDay = day
    for (const [id, counted] of this.#buckets) if (counted.day < day && counted.unstored === 0) this.#buckets.delete(id)
  }
}

/** Returns the buckets of a call that have a daily limit. */
function cappedBuckets({ buckets }: KeyLimits, limitClass: LimitClass): BucketName[] {
  const names: BucketName[] = []
  if (buckets.key.day !== Number.POSITIVE_INFINITY) names.push('key')
  if (buckets[limitClass].day !== Number.POSITIVE_INFINITY) names.push(limitClass)
  return names
}

function idOf(key: string, bucket: BucketName): string {
  return `${key}\n${bucket}`
}
