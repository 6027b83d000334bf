import { BUCKET_WORDS, BucketView } from './bucket-view.ts'
import { Fingerprint } from './fingerprint.ts'
import { KeyState, type SavedRow } from './key-state.ts'
import type { Decision, Limited, Limiter, MinuteWindow, Over, Refusal, Rule, Standings } from './limiter.ts'
import { MemoryCallers } from './memory-callers.ts'
import { shortName } from './names.ts'
import { Records } from './records.ts'
import { BUCKET_NAMES, type BucketName, type KeyLimits, type LimitClass } from './table.ts'
import { DAY_SLACK, dayOf, dayStart, minuteOf, seconds } from './windows.ts'

export interface MemoryOptions {
  /** Keep note of what must survive a restart. Who asks for it must call `snapshot` regularly. */
  saving?: boolean
  /** Recruiters, and callers a rule, whose counts are kept at a time. */
  mostRecruiters?: number
  mostCallers?: number
  /** Calls between two sweeps of a part of what is idle. */
  sweepEvery?: number
}

/** Each class's number within a key's fingerprint. */
const PART = Object.fromEntries(BUCKET_NAMES.map((name, i) => [name, i + 1])) as Record<LimitClass, number>

const STATES_A_SWEEP = 16
const RECRUITER = 'recruiter '

/** Counts in the process: exact for one process, forgotten with it but for what `snapshot` hands out. */
export class MemoryLimiter implements Limiter {
  /** The buckets of keys and classes: no more than there are keys. */
  readonly #keys = new Records(BUCKET_WORDS, Infinity)
  /** Apart, because callers make up recruiters: they push out each other, never a key. */
  readonly #recruiters: Records
  readonly #callers: MemoryCallers
  readonly #states = new Map<string, KeyState>()
  readonly #fingerprint = new Fingerprint()
  readonly #whole = new BucketView()
  readonly #class = new BucketView()
  readonly #recruiter = new BucketView()
  readonly #sweepEvery: number
  #calls = 0
  #sweptStates: Iterator<KeyState> | undefined

  readonly #saving: boolean
  /** Numbers the stretches between snapshots. */
  #save = 1
  #changedStates = new Set<KeyState>()
  /** Key, bucket name, key, bucket name, and so on. */
  #changedDays: string[] = []

  constructor(options: MemoryOptions = {}) {
    const { saving = false, mostRecruiters = 2_000_000, mostCallers = 500_000, sweepEvery = 1024 } = options
    this.#sweepEvery = sweepEvery
    this.#saving = saving
    this.#recruiters = new Records(BUCKET_WORDS, mostRecruiters)
    this.#callers = new MemoryCallers(mostCallers)
  }

  decide(key: string, limits: KeyLimits, limitClass: LimitClass, recruiter: string | undefined, now: number): Decision {
    this.#tick(now)
    const { buckets } = limits
    const [minute, day] = [minuteOf(now), dayOf(now)]
    const { a, b } = this.#fingerprint.of(key)
    let wait = this.#whole.look(this.#keys, a, b, buckets.key, now, minute, day)
    let fullest: BucketName = 'key'
    const part = this.#fingerprint.part(a, b, PART[limitClass])
    const own = this.#class.look(this.#keys, part.a, part.b, buckets[limitClass], now, minute, day)
    if (own > wait) [wait, fullest] = [own, limitClass]
    if (recruiter !== undefined) {
      const name = this.#fingerprint.within(a, b, recruiter)
      const theirs = this.#recruiter.look(this.#recruiters, name.a, name.b, buckets.recruiter, now, minute, day)
      if (theirs > wait) [wait, fullest] = [theirs, 'recruiter']
    }

    const cooldown = this.#states.size === 0 ? 0 : (this.#states.get(key)?.cooldown.left(now) ?? 0)
    if (cooldown > 0) return this.#answer('COOLDOWN', cooldown, limits, limitClass, now)
    if (wait > 0) {
      const started = this.#change(key).refuse(now)
      const over = { bucket: fullest, meter: this.#viewOf(fullest).over, rests: started > 0 }
      return this.#answer('RATE_LIMITED', Math.max(wait, started), limits, limitClass, now, over)
    }

    if (this.#whole.charge(this.#save)) this.#dayChanged(key, 'key')
    if (this.#class.charge(this.#save)) this.#dayChanged(key, limitClass)
    if (recruiter !== undefined && this.#recruiter.charge(this.#save))
      this.#dayChanged(key, RECRUITER + shortName(recruiter))
    return this.#answer(undefined, 0, limits, limitClass, now)
  }

  #viewOf(bucket: BucketName): BucketView {
    if (bucket === 'key') return this.#whole
    return bucket === 'recruiter' ? this.#recruiter : this.#class
  }

  #answer(
    refused: Decision['refused'],
    wait: number,
    limits: KeyLimits,
    limitClass: LimitClass,
    now: number,
    over?: Over,
  ): Decision {
    const limit = limits.buckets[limitClass].minute
    return {
      refused,
      over,
      retryAfter: seconds(wait),
      limit,
      remaining: Math.max(0, limit - this.#class.minuteCount),
      reset: seconds(this.#class.minuteEnd - now),
    }
  }

  minute(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): MinuteWindow {
    const { a, b } = this.#fingerprint.of(key)
    const part = this.#fingerprint.part(a, b, PART[limitClass])
    this.#class.look(this.#keys, part.a, part.b, limits.buckets[limitClass], now, minuteOf(now), dayOf(now))
    const { limit, remaining, reset } = this.#answer(undefined, 0, limits, limitClass, now)
    return { limit, remaining, reset }
  }

  cooldown(key: string, now: number): number {
    return this.#states.get(key)?.cooldown.left(now) ?? 0
  }

  browsePage(key: string, limits: KeyLimits, now: number): Refusal | undefined {
    this.#tick(now)
    return this.#change(key).browsePage(limits.browsePagesPerHour, now)
  }

  seeSkills(key: string, limits: KeyLimits, skills: readonly number[], now: number): Refusal | undefined {
    this.#tick(now)
    return this.#change(key).seeSkills(skills, limits.skillsPerDay, now)
  }

  take(caller: string, rules: readonly Rule[], now: number): Standings {
    this.#tick(now)
    return this.#callers.decide(caller, rules, now, 'take')
  }

  peek(caller: string, rules: readonly Rule[], now: number): Standings {
    return this.#callers.decide(caller, rules, now, 'peek')
  }

  charge(caller: string, rules: readonly Rule[], now: number): Standings {
    this.#tick(now)
    return this.#callers.decide(caller, rules, now, 'charge')
  }

  limited(now: number): Limited[] {
    return this.#callers.limited(now)
  }

  close(): void {}

  /** What changed since the last snapshot and must survive a restart: rows to upsert. Where writing fails, write them again. */
  snapshot(now: number): SavedRow[] {
    const rows: SavedRow[] = []
    for (const state of this.#changedStates) state.changes(rows)
    const changed = this.#changedDays
    for (let i = 0; i < changed.length; i += 2) {
      const [key, name] = [changed[i]!, changed[i + 1]!]
      const { a, b, records } = this.#locate(key, name)
      const view = this.#whole
      view.look(records, a, b, NO_LIMIT, now, minuteOf(now), dayOf(now))
      if (view.dayCount === 0) continue
      const expiresAt = dayStart(view.day + 1) + DAY_SLACK
      rows.push({ key, name: `day:${name}`, value: [view.day, view.dayCount], expiresAt })
    }
    this.#changedStates = new Set()
    this.#changedDays = []
    this.#save = (this.#save + 1) | 0
    return rows
  }

  /** Takes up where another process left off; for an engine that has counted nothing yet. */
  restore(rows: readonly SavedRow[], now: number): void {
    const states = Map.groupBy(
      rows.filter((row) => row.expiresAt > now && !row.name.startsWith('day:')),
      (row) => row.key,
    )
    for (const [key, own] of states) {
      const state = new KeyState(key)
      state.restore(own)
      this.#states.set(key, state)
    }
    for (const { key, name, value, expiresAt } of rows) {
      if (!name.startsWith('day:') || expiresAt <= now) continue
      const { a, b, records } = this.#locate(key, name.slice('day:'.length))
      this.#whole.restoreDay(records, a, b, value[0]!, value[1]!)
    }
  }

  /** Gives back a part of the memory of what is idle. Calls do it in passing; a timer may, where calls have stopped. */
  sweep(now: number): void {
    const minute = minuteOf(now)
    this.#keys.sweep(minute)
    this.#recruiters.sweep(minute)
    this.#callers.sweep(minute)
    for (let i = 0; i < STATES_A_SWEEP; i++) {
      this.#sweptStates ??= this.#states.values()
      const { value: state, done } = this.#sweptStates.next()
      if (done) this.#sweptStates = undefined
      else if (state.sweep(now)) this.#states.delete(state.key)
    }
  }

  /** For metrics and benches: buckets held for keys and recruiters, and the bytes of all tables. */
  get usage(): { buckets: number; bytes: number } {
    return {
      buckets: this.#keys.size + this.#recruiters.size,
      bytes: this.#keys.bytes + this.#recruiters.bytes + this.#callers.bytes,
    }
  }

  #tick(now: number): void {
    if (++this.#calls < this.#sweepEvery) return
    this.#calls = 0
    this.sweep(now)
  }

  /** The state of a key that is about to change. */
  #change(key: string): KeyState {
    let state = this.#states.get(key)
    if (!state) {
      state = new KeyState(key)
      this.#states.set(key, state)
    }
    if (this.#saving) this.#changedStates.add(state)
    return state
  }

  #dayChanged(key: string, name: string): void {
    if (this.#saving) this.#changedDays.push(key, name)
  }

  /** Where the bucket of a saved day meter is. */
  #locate(key: string, name: string): { a: number; b: number; records: Records } {
    const { a, b } = this.#fingerprint.of(key)
    if (name === 'key') return { a, b, records: this.#keys }
    if (name.startsWith(RECRUITER)) {
      const recruiter = this.#fingerprint.within(a, b, name.slice(RECRUITER.length))
      return { a: recruiter.a, b: recruiter.b, records: this.#recruiters }
    }
    const part = this.#fingerprint.part(a, b, PART[name as LimitClass])
    return { a: part.a, b: part.b, records: this.#keys }
  }
}

/** For reading a bucket's meters without asking whether they have room. */
const NO_LIMIT = { rate: 1, burst: 1, minute: Infinity, day: Infinity, refill: 1, capacity: Infinity, fill: 0 }
