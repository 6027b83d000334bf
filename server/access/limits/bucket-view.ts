import { DAY, MINUTE } from '../../platform/clock.ts'
import { indianDayStart } from '../../platform/india-time.ts'
import type { MeterName } from './limiter.ts'
import { IDLE_MINUTE_OFFSET, PAYLOAD_OFFSET, type Records, type Shard, USED_OFFSET } from './records.ts'
import { type Bucket, UNITS_PER_TOKEN } from './table.ts'
import { DAY_SLACK_MS, MINUTE_SLACK_MS } from './windows.ts'

// Word offsets in a bucket's record, which has the state of three meters. The word at USED_OFFSET is the count of the minute.
// 64-bit floats are read at half their word offset.
const MINUTE_NUMBER_OFFSET = PAYLOAD_OFFSET
const DAY_NUMBER_OFFSET = PAYLOAD_OFFSET + 1
const DAY_COUNT_OFFSET = PAYLOAD_OFFSET + 2
const SAVE_NUMBER_OFFSET = PAYLOAD_OFFSET + 3
const LAST_CHARGE_OFFSET = PAYLOAD_OFFSET + 4
const DEBT_OFFSET = PAYLOAD_OFFSET + 6
export const BUCKET_RECORD_WORDS = PAYLOAD_OFFSET + 8

/**
 * One bucket while a call is decided: `read` first, then `charge` if the call is allowed. `hashA` and `hashB` are the halves of the
 * bucket's fingerprint.
 */
export class BucketView {
  /** Number of the minute window of the call, and the calls counted in it. */
  minute = 0
  minuteCount = 0
  /** The exceeded meter with the longest wait. Valid only if `read` did not return 0. */
  exceededMeter: MeterName = 'second'
  #shard!: Shard
  #bucket!: Bucket
  #hashA = 0
  #hashB = 0
  #recordOffset = -1
  /** Time of the last charge; later than now if the clock was set back slightly. */
  #lastChargeTime = 0
  /** Tokens taken and not yet refilled, in token units. */
  #debt = 0
  #day = 0
  #dayCount = 0

  /**
   * Returns the milliseconds until all three meters allow one more call; 0 if they do now. `minute` and `day` are the numbers of the
   * minute and the Indian day of `now`; callers compute them once for all buckets.
   */
  read(
    records: Records,
    hashA: number,
    hashB: number,
    bucket: Bucket,
    now: number,
    minute: number,
    day: number,
  ): number {
    const shard = records.shard(hashA)
    this.#shard = shard
    this.#bucket = bucket
    this.#hashA = hashA
    this.#hashB = hashB
    this.minute = minute
    this.minuteCount = 0
    this.#day = day
    this.#dayCount = 0
    this.#lastChargeTime = now
    this.#debt = 0
    this.#recordOffset = shard.find(hashA, hashB)
    if (this.#recordOffset >= 0) this.#load(shard, this.#recordOffset, now)

    let waitMs = 0
    const missingUnits = this.#debt + UNITS_PER_TOKEN - bucket.capacity
    this.exceededMeter = 'second'
    if (missingUnits > 0) waitMs = Math.ceil(missingUnits / bucket.refillPerMs) + this.#lastChargeTime - now
    if (this.minuteCount >= bucket.minute && this.minuteEnd - now > waitMs) {
      waitMs = this.minuteEnd - now
      this.exceededMeter = 'minute'
    }
    if (this.#dayCount >= bucket.day && indianDayStart(this.#day + 1) - now > waitMs) {
      waitMs = indianDayStart(this.#day + 1) - now
      this.exceededMeter = 'day'
    }
    return waitMs
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

  #load(shard: Shard, offset: number, now: number): void {
    const { words, floats } = shard
    const lastCharge = floats[(offset + LAST_CHARGE_OFFSET) >> 1]!
    let debt = floats[(offset + DEBT_OFFSET) >> 1]!
    if (lastCharge - now > MINUTE_SLACK_MS) floats[(offset + LAST_CHARGE_OFFSET) >> 1] = now
    else if (lastCharge > now) this.#lastChargeTime = lastCharge
    else debt = Math.max(0, debt - (now - lastCharge) * this.#bucket.refillPerMs)
    this.#debt = debt

    const storedMinute = words[offset + MINUTE_NUMBER_OFFSET]!
    if (storedMinute >= this.minute) {
      this.minuteCount = words[offset + USED_OFFSET]!
      if (storedMinute * MINUTE - now > MINUTE_SLACK_MS) words[offset + MINUTE_NUMBER_OFFSET] = this.minute
      else this.minute = storedMinute
    }

    const storedDay = words[offset + DAY_NUMBER_OFFSET]!
    if (storedDay >= this.#day) {
      this.#dayCount = words[offset + DAY_COUNT_OFFSET]!
      if (indianDayStart(storedDay) - now > DAY_SLACK_MS) words[offset + DAY_NUMBER_OFFSET] = this.#day
      else this.#day = storedDay
    }
  }

  /**
   * Counts the call. `saveNumber` identifies the interval between two snapshots; returns true if this is the first change of the day
   * meter in the interval.
   */
  charge(saveNumber: number): boolean {
    const shard = this.#shard
    // Charging another bucket may have moved this record.
    let offset = shard.matches(this.#recordOffset, this.#hashA, this.#hashB)
      ? this.#recordOffset
      : shard.find(this.#hashA, this.#hashB)
    if (offset < 0) offset = shard.add(this.#hashA, this.#hashB)
    const { words, floats } = shard
    const bucket = this.#bucket
    floats[(offset + LAST_CHARGE_OFFSET) >> 1] = this.#lastChargeTime
    floats[(offset + DEBT_OFFSET) >> 1] = this.#debt + UNITS_PER_TOKEN
    words[offset + USED_OFFSET] = ++this.minuteCount
    if (words[offset + MINUTE_NUMBER_OFFSET] !== this.minute) {
      words[offset + MINUTE_NUMBER_OFFSET] = this.minute
      words[offset + IDLE_MINUTE_OFFSET] = this.#idleFrom()
    }
    if (bucket.day === Infinity) return false
    words[offset + DAY_NUMBER_OFFSET] = this.#day
    words[offset + DAY_COUNT_OFFSET] = ++this.#dayCount
    const isFirstChange = words[offset + SAVE_NUMBER_OFFSET] !== saveNumber
    words[offset + SAVE_NUMBER_OFFSET] = saveNumber
    return isFirstChange
  }

  /** Returns the minute from which the counts of this minute no longer affect any decision. */
  #idleFrom(): number {
    const { fillMs, day: maxPerDay } = this.#bucket
    const idleTime = this.minuteEnd + fillMs + MINUTE_SLACK_MS
    return Math.ceil(
      (maxPerDay === Infinity ? idleTime : Math.max(idleTime, indianDayStart(this.#day + 1) + DAY_SLACK_MS)) / MINUTE,
    )
  }

  /** Restores a day's count that was saved before a restart. */
  restoreDay(records: Records, hashA: number, hashB: number, day: number, count: number): void {
    const shard = records.shard(hashA)
    let offset = shard.find(hashA, hashB)
    if (offset < 0) offset = shard.add(hashA, hashB)
    const { words } = shard
    words[offset + DAY_NUMBER_OFFSET] = day
    words[offset + DAY_COUNT_OFFSET] = count
    words[offset + IDLE_MINUTE_OFFSET] = Math.ceil((indianDayStart(day) + DAY + DAY_SLACK_MS) / MINUTE)
  }
}
