import { indianDayNumber, indianDayStart } from '../../platform/india-time.ts'
import { BUCKET_RECORD_WORDS, BucketView } from './bucket-view.ts'
import { Fingerprint } from './fingerprint.ts'
import { KeyState, type SavedCounterRow } from './key-state.ts'
import type {
  CallerDecision,
  ExceededMeter,
  LimitError,
  LimitedCaller,
  Limiter,
  MinuteWindow,
  RateLimitDecision,
  Rule,
} from './limiter.ts'
import { MemoryCallers } from './memory-callers.ts'
import { shortenName } from './names.ts'
import { Records } from './records.ts'
import { BUCKET_NAMES, type BucketName, type KeyLimits, type LimitClass } from './table.ts'
import { DAY_SLACK_MS, minuteNumber, toLimitError, toWholeSeconds } from './windows.ts'

export interface MemoryLimiterOptions {
  /** Track the changes that must survive a restart. Requires regular calls of `snapshot`. */
  trackChanges?: boolean
  maxRecruiters?: number
  /** Maximum number of callers without a partner key, such as IP addresses, that are counted for each `Rule`. */
  maxCallers?: number
  /** Calls between two sweeps, each of which frees a part of the idle records. */
  callsPerSweep?: number
}

/** A number for each rate limit class. The fingerprint of a class's bucket is derived from the key's fingerprint and this number. */
const CLASS_NUMBERS = Object.fromEntries(BUCKET_NAMES.map((name, i) => [name, i + 1])) as Record<LimitClass, number>

const KEY_STATES_PER_SWEEP = 16
const RECRUITER_PREFIX = 'recruiter '

/** Rate limiter in the process. Exact for one process; counts are lost at exit, except for those that `snapshot` returns. */
export class MemoryLimiter implements Limiter {
  /** Buckets of keys and organisations and their classes. Not capped: their number is bounded by the number of keys. */
  readonly #keys = new Records(BUCKET_RECORD_WORDS, Infinity)
  /** Buckets of recruiters. Separate because callers choose the names: recruiters evict each other, never a key. */
  readonly #recruiters: Records
  readonly #callers: MemoryCallers
  readonly #states = new Map<string, KeyState>()
  readonly #fingerprint = new Fingerprint()
  readonly #keyView = new BucketView()
  readonly #classView = new BucketView()
  readonly #recruiterView = new BucketView()
  readonly #sharedKeyView = new BucketView()
  readonly #sharedClassView = new BucketView()
  readonly #callsPerSweep: number
  #callsSinceSweep = 0
  #stateSweep: Iterator<KeyState> | undefined

  readonly #trackChanges: boolean
  /** Identifies the interval between two snapshots; incremented by each snapshot. */
  #saveNumber = 1
  #changedStates = new Set<KeyState>()
  /** Buckets whose daily count changed since the last snapshot, as alternating keys and bucket names. */
  #changedDays: string[] = []

  constructor(options: MemoryLimiterOptions = {}) {
    const { trackChanges = false, maxRecruiters = 2_000_000, maxCallers = 500_000, callsPerSweep = 1024 } = options
    this.#callsPerSweep = callsPerSweep
    this.#trackChanges = trackChanges
    this.#recruiters = new Records(BUCKET_RECORD_WORDS, maxRecruiters)
    this.#callers = new MemoryCallers(maxCallers)
  }

  decide(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    recruiter: string | undefined,
    now: number,
  ): RateLimitDecision {
    this.#sweepIfDue(now)
    const { buckets, shared } = limits
    const [minute, day] = [minuteNumber(now), indianDayNumber(now)]
    const { hashA, hashB } = this.#fingerprint.of(key)
    let waitMs = this.#keyView.read(this.#keys, hashA, hashB, buckets.key, now, minute, day)
    let bucket: BucketName = 'key'
    const classFingerprint = this.#fingerprint.part(hashA, hashB, CLASS_NUMBERS[limitClass])
    const classWaitMs = this.#classView.read(
      this.#keys,
      classFingerprint.hashA,
      classFingerprint.hashB,
      buckets[limitClass],
      now,
      minute,
      day,
    )
    if (classWaitMs > waitMs) [waitMs, bucket] = [classWaitMs, limitClass]
    if (recruiter !== undefined) {
      const recruiterFingerprint = this.#fingerprint.within(hashA, hashB, recruiter)
      const recruiterWaitMs = this.#recruiterView.read(
        this.#recruiters,
        recruiterFingerprint.hashA,
        recruiterFingerprint.hashB,
        buckets.recruiter,
        now,
        minute,
        day,
      )
      if (recruiterWaitMs > waitMs) [waitMs, bucket] = [recruiterWaitMs, 'recruiter']
    }
    const ownWaitMs = waitMs
    if (shared !== undefined) {
      const sharedBuckets = shared.limits.buckets
      if (shared.hashA === undefined) {
        const { hashA, hashB } = this.#fingerprint.of(shared.id)
        shared.hashA = hashA
        shared.hashB = hashB
      }
      const sharedA = shared.hashA
      const sharedB = shared.hashB!
      const sharedKeyWaitMs = this.#sharedKeyView.read(
        this.#keys,
        sharedA,
        sharedB,
        sharedBuckets.key,
        now,
        minute,
        day,
      )
      if (sharedKeyWaitMs > waitMs) [waitMs, bucket] = [sharedKeyWaitMs, 'key']
      const sharedClass = this.#fingerprint.part(sharedA, sharedB, CLASS_NUMBERS[limitClass])
      const sharedClassWaitMs = this.#sharedClassView.read(
        this.#keys,
        sharedClass.hashA,
        sharedClass.hashB,
        sharedBuckets[limitClass],
        now,
        minute,
        day,
      )
      if (sharedClassWaitMs > waitMs) [waitMs, bucket] = [sharedClassWaitMs, limitClass]
    }

    const cooldownMs = this.#states.size === 0 ? 0 : this.cooldown(key, limits, now)
    if (cooldownMs > 0) {
      const decision = this.#toDecision('COOLDOWN', cooldownMs, limits, limitClass, now)
      return cooldownMs > this.#remainingCooldown(key, now) ? { ...decision, isSharedCooldown: true } : decision
    }
    if (waitMs > 0) return this.#reject(key, limits, limitClass, bucket, waitMs, waitMs > ownWaitMs, now)

    if (this.#keyView.charge(this.#saveNumber)) this.#trackDay(key, 'key')
    if (this.#classView.charge(this.#saveNumber)) this.#trackDay(key, limitClass)
    if (recruiter !== undefined && this.#recruiterView.charge(this.#saveNumber))
      this.#trackDay(key, RECRUITER_PREFIX + shortenName(recruiter))
    if (shared !== undefined) {
      if (this.#sharedKeyView.charge(this.#saveNumber)) this.#trackDay(shared.id, 'key')
      if (this.#sharedClassView.charge(this.#saveNumber)) this.#trackDay(shared.id, limitClass)
    }
    return this.#toDecision(undefined, 0, limits, limitClass, now)
  }

  /** Counts the rejection towards the cooldowns. `isShared`: the exceeded meter is one of the organisation. */
  #reject(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    bucket: BucketName,
    waitMs: number,
    isShared: boolean,
    now: number,
  ): RateLimitDecision {
    const { shared } = limits
    const newCooldownMs = this.#stateForChange(key).recordRejection(limits.rejectionsBeforeCooldown, now)
    const sharedCooldownMs = shared
      ? this.#stateForChange(shared.id).recordRejection(shared.limits.rejectionsBeforeCooldown, now)
      : 0
    const exceeded: ExceededMeter = {
      bucket,
      meter: this.#viewOf(bucket, isShared).exceededMeter,
      startsCooldown: newCooldownMs > 0,
      ...(isShared ? { shared: true } : {}),
      ...(sharedCooldownMs > 0 ? { startsSharedCooldown: true } : {}),
    }
    const longestWaitMs = Math.max(waitMs, newCooldownMs, sharedCooldownMs)
    return this.#toDecision('RATE_LIMITED', longestWaitMs, limits, limitClass, now, exceeded)
  }

  #viewOf(bucket: BucketName, isShared: boolean): BucketView {
    if (bucket === 'key') return isShared ? this.#sharedKeyView : this.#keyView
    if (bucket === 'recruiter') return this.#recruiterView
    return isShared ? this.#sharedClassView : this.#classView
  }

  #toDecision(
    errorCode: RateLimitDecision['errorCode'],
    waitMs: number,
    limits: KeyLimits,
    limitClass: LimitClass,
    now: number,
    exceeded?: ExceededMeter,
  ): RateLimitDecision {
    const limit = limits.buckets[limitClass].minute
    return {
      errorCode,
      exceeded,
      retryAfter: toWholeSeconds(waitMs),
      limit,
      remaining: Math.max(0, limit - this.#classView.minuteCount),
      reset: toWholeSeconds(this.#classView.minuteEnd - now),
    }
  }

  minuteWindow(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): MinuteWindow {
    const { hashA, hashB } = this.#fingerprint.of(key)
    const classFingerprint = this.#fingerprint.part(hashA, hashB, CLASS_NUMBERS[limitClass])
    this.#classView.read(
      this.#keys,
      classFingerprint.hashA,
      classFingerprint.hashB,
      limits.buckets[limitClass],
      now,
      minuteNumber(now),
      indianDayNumber(now),
    )
    const { limit, remaining, reset } = this.#toDecision(undefined, 0, limits, limitClass, now)
    return { limit, remaining, reset }
  }

  cooldown(key: string, { shared }: KeyLimits, now: number): number {
    const keyMs = this.#remainingCooldown(key, now)
    return shared === undefined ? keyMs : Math.max(keyMs, this.#remainingCooldown(shared.id, now))
  }

  #remainingCooldown(id: string, now: number): number {
    return this.#states.get(id)?.cooldown.remaining(now) ?? 0
  }

  recordPage(key: string, limits: KeyLimits, now: number): LimitError | undefined {
    this.#sweepIfDue(now)
    const { shared } = limits
    const state = this.#stateForChange(key)
    const sharedState = shared && this.#stateForChange(shared.id)
    let keyMs = state.cooldown.remaining(now)
    let sharedMs = sharedState?.cooldown.remaining(now) ?? 0
    if (keyMs === 0 && sharedMs === 0) {
      const isKeyLimitReached = state.isPageLimitReached(limits.browsePagesPerHour, now)
      const isSharedLimitReached = sharedState?.isPageLimitReached(shared!.limits.browsePagesPerHour, now) ?? false
      if (!isKeyLimitReached && !isSharedLimitReached) {
        state.countPage(now)
        sharedState?.countPage(now)
        return undefined
      }
      if (isKeyLimitReached) keyMs = state.beginCooldown(now)
      if (isSharedLimitReached) sharedMs = sharedState!.beginCooldown(now)
    }
    return toLimitError('COOLDOWN', keyMs, sharedMs)
  }

  recordSkills(key: string, limits: KeyLimits, skills: readonly number[], now: number): LimitError | undefined {
    this.#sweepIfDue(now)
    const { shared } = limits
    const state = this.#stateForChange(key)
    const sharedState = shared && this.#stateForChange(shared.id)
    const unseenIds = state.unseenSkills(skills, now)
    const sharedUnseenIds = sharedState?.unseenSkills(skills, now)
    const keyMs = state.skillsWait(unseenIds, limits.skillsPerDay, now)
    const sharedMs = sharedState?.skillsWait(sharedUnseenIds!, shared!.limits.skillsPerDay, now) ?? 0
    if (keyMs > 0 || sharedMs > 0) return toLimitError('DAILY_CAP', keyMs, sharedMs)
    state.countSkills(unseenIds)
    sharedState?.countSkills(sharedUnseenIds!)
    return undefined
  }

  take(caller: string, rules: readonly Rule[], now: number): CallerDecision {
    this.#sweepIfDue(now)
    return this.#callers.decide(caller, rules, now, 'take')
  }

  peek(caller: string, rules: readonly Rule[], now: number): CallerDecision {
    return this.#callers.decide(caller, rules, now, 'peek')
  }

  charge(caller: string, rules: readonly Rule[], now: number): CallerDecision {
    this.#sweepIfDue(now)
    return this.#callers.decide(caller, rules, now, 'charge')
  }

  listLimited(now: number): LimitedCaller[] {
    return this.#callers.listLimited(now)
  }

  close(): void {}

  /** Returns the rows that changed since the last snapshot and must survive a restart. If writing them fails, the caller retries. */
  snapshot(now: number): SavedCounterRow[] {
    const rows: SavedCounterRow[] = []
    for (const state of this.#changedStates) state.collectChanges(rows)
    const changedDays = this.#changedDays
    for (let i = 0; i < changedDays.length; i += 2) {
      const [key, name] = [changedDays[i]!, changedDays[i + 1]!]
      const { hashA, hashB, records } = this.#locate(key, name)
      const view = this.#keyView
      view.read(records, hashA, hashB, UNLIMITED_BUCKET, now, minuteNumber(now), indianDayNumber(now))
      if (view.dayCount === 0) continue
      const expiresAt = indianDayStart(view.day + 1) + DAY_SLACK_MS
      rows.push({ key, name: `day:${name}`, value: [view.day, view.dayCount], expiresAt })
    }
    this.#changedStates = new Set()
    this.#changedDays = []
    this.#saveNumber = (this.#saveNumber + 1) | 0
    return rows
  }

  /** Restores the counts that another process saved. Call it before the first decision. */
  restore(rows: readonly SavedCounterRow[], now: number): void {
    const rowsByKey = Map.groupBy(
      rows.filter((row) => row.expiresAt > now && !row.name.startsWith('day:')),
      (row) => row.key,
    )
    for (const [key, stateRows] of rowsByKey) {
      const state = new KeyState(key)
      state.restore(stateRows)
      this.#states.set(key, state)
    }
    for (const { key, name, value, expiresAt } of rows) {
      if (!name.startsWith('day:') || expiresAt <= now) continue
      const { hashA, hashB, records } = this.#locate(key, name.slice('day:'.length))
      this.#keyView.restoreDay(records, hashA, hashB, value[0]!, value[1]!)
    }
  }

  /** Frees a part of the idle records. Runs after every `callsPerSweep` calls; also call it from a timer in case there are no calls. */
  sweep(now: number): void {
    const minute = minuteNumber(now)
    this.#keys.sweep(minute)
    this.#recruiters.sweep(minute)
    this.#callers.sweep(minute)
    for (let i = 0; i < KEY_STATES_PER_SWEEP; i++) {
      this.#stateSweep ??= this.#states.values()
      const { value: state, done } = this.#stateSweep.next()
      if (done) this.#stateSweep = undefined
      else if (state.sweep(now)) this.#states.delete(state.key)
    }
  }

  /** Number of buckets of keys and recruiters, and the bytes of all tables; for benchmarks and tests. */
  get usage(): { buckets: number; bytes: number } {
    return {
      buckets: this.#keys.size + this.#recruiters.size,
      bytes: this.#keys.bytes + this.#recruiters.bytes + this.#callers.bytes,
    }
  }

  #sweepIfDue(now: number): void {
    if (++this.#callsSinceSweep < this.#callsPerSweep) return
    this.#callsSinceSweep = 0
    this.sweep(now)
  }

  /** Returns the state of a key that is about to change, creating it if necessary. */
  #stateForChange(key: string): KeyState {
    let state = this.#states.get(key)
    if (!state) {
      state = new KeyState(key)
      this.#states.set(key, state)
    }
    if (this.#trackChanges) this.#changedStates.add(state)
    return state
  }

  #trackDay(key: string, name: string): void {
    if (this.#trackChanges) this.#changedDays.push(key, name)
  }

  /** Finds the record of a saved day meter. */
  #locate(key: string, name: string): { hashA: number; hashB: number; records: Records } {
    const { hashA, hashB } = this.#fingerprint.of(key)
    if (name === 'key') return { hashA, hashB, records: this.#keys }
    if (name.startsWith(RECRUITER_PREFIX)) {
      const recruiterFingerprint = this.#fingerprint.within(hashA, hashB, name.slice(RECRUITER_PREFIX.length))
      return { hashA: recruiterFingerprint.hashA, hashB: recruiterFingerprint.hashB, records: this.#recruiters }
    }
    const classFingerprint = this.#fingerprint.part(hashA, hashB, CLASS_NUMBERS[name as LimitClass])
    return { hashA: classFingerprint.hashA, hashB: classFingerprint.hashB, records: this.#keys }
  }
}

/** Bucket without limits, for reading counts only. */
const UNLIMITED_BUCKET = {
  rate: 1,
  burst: 1,
  minute: Infinity,
  day: Infinity,
  refillPerMs: 1,
  capacity: Infinity,
  fillMs: 0,
}
