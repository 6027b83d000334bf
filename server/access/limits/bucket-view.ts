import { DAY, MINUTE } from '../../platform/clock.ts'
import { indianDayStart } from '../../platform/india-time.ts'
import type { MeterName } from './limiter.ts'
import { IDLE_MINUTE, PAYLOAD_OFFSET, type Records, type Shard, USED } from './records.ts'
import { type Bucket, UNITS_PER_TOKEN } from './table.ts'
import { DAY_SLACK_MS, MINUTE_SLACK_MS } from './windows.ts'

// Words of a bucket's record: the state of its three meters. USED is the minute's count.
const MINUTE_INDEX = PAYLOAD_OFFSET
const DAY_INDEX = PAYLOAD_OFFSET + 1
const DAY_COUNT = PAYLOAD_OFFSET + 2
const SAVE_NUMBER = PAYLOAD_OFFSET + 3
const LAST_CHARGE = PAYLOAD_OFFSET + 4
const DEBT = PAYLOAD_OFFSET + 6
export const BUCKET_WORDS = PAYLOAD_OFFSET + 8

/** One bucket while a call is decided: `read` first, then `charge` if the call is allowed. */
export class BucketView {
  /** The minute window of the call, and the calls counted in it. */
  minute = 0
  minuteCount = 0
  /** The exhausted meter with the longest wait, if `read` found one. */
  exceeded: MeterName = 'second'
  #shard!: Shard
  #bucket!: Bucket
  #a = 0
  #b = 0
  #at = -1
  /** Time of the last charge; later than now if the clock was set back slightly. */
  #time = 0
  /** Tokens taken and not yet refilled, in token units. */
  #debt = 0
  #day = 0
  #dayCount = 0

  /**
   * Returns the milliseconds until all three meters allow one more call; 0 if they do now. `minute` and `day` belong to `now`;
   * callers compute them once for all buckets.
   */
  read(records: Records, a: number, b: number, bucket: Bucket, now: number, minute: number, day: number): number {
    const shard = records.shard(a)
    this.#shard = shard
    this.#bucket = bucket
    this.#a = a
    this.#b = b
    this.minute = minute
    this.minuteCount = 0
    this.#day = day
    this.#dayCount = 0
    this.#time = now
    this.#debt = 0
    this.#at = shard.find(a, b)
    if (this.#at >= 0) this.#load(shard, this.#at, now)

    let wait = 0
    const missingUnits = this.#debt + UNITS_PER_TOKEN - bucket.capacity
    this.exceeded = 'second'
    if (missingUnits > 0) wait = Math.ceil(missingUnits / bucket.refillPerMs) + this.#time - now
    if (this.minuteCount >= bucket.minute && this.minuteEnd - now > wait) {
      wait = this.minuteEnd - now
      this.exceeded = 'minute'
    }
    if (this.#dayCount >= bucket.day && indianDayStart(this.#day + 1) - now > wait) {
      wait = indianDayStart(this.#day + 1) - now
      this.exceeded = 'day'
    }
    return wait
  }

  get minuteEnd(): number {
    return (this.minute + 1) * MINUTE
  }

  get day(): number {
    return this.#day
  }

  get dayCount(): number {
    return this.#dayCount
  }

  #load(shard: Shard, at: number, now: number): void {
    const { words, floats } = shard
    const last = floats[(at + LAST_CHARGE) >> 1]!
    let debt = floats[(at + DEBT) >> 1]!
    if (last - now > MINUTE_SLACK_MS) floats[(at + LAST_CHARGE) >> 1] = now
    else if (last > now) this.#time = last
    else debt = Math.max(0, debt - (now - last) * this.#bucket.refillPerMs)
    this.#debt = debt

    const minute = words[at + MINUTE_INDEX]!
    if (minute >= this.minute) {
      this.minuteCount = words[at + USED]!
      if (minute * MINUTE - now > MINUTE_SLACK_MS) words[at + MINUTE_INDEX] = this.minute
      else this.minute = minute
    }

    const day = words[at + DAY_INDEX]!
    if (day >= this.#day) {
      this.#dayCount = words[at + DAY_COUNT]!
      if (indianDayStart(day) - now > DAY_SLACK_MS) words[at + DAY_INDEX] = this.#day
      else this.#day = day
    }
  }

  /**
   * Counts the call. `saveNumber` identifies the interval between two snapshots; returns true if this is the first change of the day
   * meter in the interval.
   */
  charge(saveNumber: number): boolean {
    const shard = this.#shard
    // Charging another bucket may have moved this record.
    let at = shard.matches(this.#at, this.#a, this.#b) ? this.#at : shard.find(this.#a, this.#b)
    if (at < 0) at = shard.add(this.#a, this.#b)
    const { words, floats } = shard
    const bucket = this.#bucket
    floats[(at + LAST_CHARGE) >> 1] = this.#time
    floats[(at + DEBT) >> 1] = this.#debt + UNITS_PER_TOKEN
    words[at + USED] = ++this.minuteCount
    if (words[at + MINUTE_INDEX] !== this.minute) {
      words[at + MINUTE_INDEX] = this.minute
      words[at + IDLE_MINUTE] = this.#idleFrom()
    }
    if (bucket.day === Infinity) return false
    words[at + DAY_INDEX] = this.#day
    words[at + DAY_COUNT] = ++this.#dayCount
    const changed = words[at + SAVE_NUMBER] !== saveNumber
    words[at + SAVE_NUMBER] = saveNumber
    return changed
  }

  /** Returns the minute from which the counts of this minute no longer affect any decision. */
  #idleFrom(): number {
    const { fillMs, day } = this.#bucket
    const idle = this.minuteEnd + fillMs + MINUTE_SLACK_MS
    return Math.ceil((day === Infinity ? idle : Math.max(idle, indianDayStart(this.#day + 1) + DAY_SLACK_MS)) / MINUTE)
  }

  /** Restores a day's count that was saved before a restart. */
  restoreDay(records: Records, a: number, b: number, day: number, count: number): void {
    const shard = records.shard(a)
    let at = shard.find(a, b)
    if (at < 0) at = shard.add(a, b)
    const { words } = shard
    words[at + DAY_INDEX] = day
    words[at + DAY_COUNT] = count
    words[at + IDLE_MINUTE] = Math.ceil((indianDayStart(day) + DAY + DAY_SLACK_MS) / MINUTE)
  }
}
