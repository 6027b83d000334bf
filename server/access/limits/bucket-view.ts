import { DAY, MINUTE } from '../../platform/clock.ts'
import type { MeterName } from './limiter.ts'
import { IDLE, OWN, type Records, type Shard, USED } from './records.ts'
import { type Bucket, TOKEN } from './table.ts'
import { DAY_SLACK, dayStart, SLACK } from './windows.ts'

// A bucket's record: what its three meters have used. USED is the minute's count.
const MINUTE_INDEX = OWN
const DAY_INDEX = OWN + 1
const DAY_COUNT = OWN + 2
const SAVED = OWN + 3
const LAST = OWN + 4
const DEBT = OWN + 6
export const BUCKET_WORDS = OWN + 8

/** One bucket while a call is decided: first looked at, then charged or left alone. */
export class BucketView {
  /** The minute window the call falls into, and the calls counted in it. */
  minute = 0
  minuteCount = 0
  /** The meter that takes longest to have room, where `look` found one without. */
  over: MeterName = 'second'
  #shard!: Shard
  #bucket!: Bucket
  #a = 0
  #b = 0
  #at = -1
  /** When the bucket was last charged; later than now while a clock that ran back catches up. */
  #time = 0
  /** Tokens taken and not yet refilled. */
  #debt = 0
  #day = 0
  #dayCount = 0

  /**
   * Milliseconds until all three meters have room for one more call; 0 is now. The minute and the day are those of
   * `now`, worked out once for all buckets.
   */
  look(records: Records, a: number, b: number, bucket: Bucket, now: number, minute: number, day: number): number {
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
    if (this.#at >= 0) this.#read(shard, this.#at, now)

    let wait = 0
    const missing = this.#debt + TOKEN - bucket.capacity
    this.over = 'second'
    if (missing > 0) wait = Math.ceil(missing / bucket.refill) + this.#time - now
    if (this.minuteCount >= bucket.minute && this.minuteEnd - now > wait) {
      wait = this.minuteEnd - now
      this.over = 'minute'
    }
    if (this.#dayCount >= bucket.day && dayStart(this.#day + 1) - now > wait) {
      wait = dayStart(this.#day + 1) - now
      this.over = 'day'
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

  #read(shard: Shard, at: number, now: number): void {
    const { words, floats } = shard
    const last = floats[(at + LAST) >> 1]!
    let debt = floats[(at + DEBT) >> 1]!
    if (last - now > SLACK) floats[(at + LAST) >> 1] = now
    else if (last > now) this.#time = last
    else debt = Math.max(0, debt - (now - last) * this.#bucket.refill)
    this.#debt = debt

    const minute = words[at + MINUTE_INDEX]!
    if (minute >= this.minute) {
      this.minuteCount = words[at + USED]!
      if (minute * MINUTE - now > SLACK) words[at + MINUTE_INDEX] = this.minute
      else this.minute = minute
    }

    const day = words[at + DAY_INDEX]!
    if (day >= this.#day) {
      this.#dayCount = words[at + DAY_COUNT]!
      if (dayStart(day) - now > DAY_SLACK) words[at + DAY_INDEX] = this.#day
      else this.#day = day
    }
  }

  /**
   * Counts the call that `look` found room for. `save` numbers the stretch between two writes to the database; true where this is the day
   * meter's first change within it.
   */
  charge(save: number): boolean {
    const shard = this.#shard
    // Another bucket's charge may have moved this one.
    let at = shard.holds(this.#at, this.#a, this.#b) ? this.#at : shard.find(this.#a, this.#b)
    if (at < 0) at = shard.add(this.#a, this.#b)
    const { words, floats } = shard
    const bucket = this.#bucket
    floats[(at + LAST) >> 1] = this.#time
    floats[(at + DEBT) >> 1] = this.#debt + TOKEN
    words[at + USED] = ++this.minuteCount
    if (words[at + MINUTE_INDEX] !== this.minute) {
      words[at + MINUTE_INDEX] = this.minute
      words[at + IDLE] = this.#idleFrom()
    }
    if (bucket.day === Infinity) return false
    words[at + DAY_INDEX] = this.#day
    words[at + DAY_COUNT] = ++this.#dayCount
    const changed = words[at + SAVED] !== save
    words[at + SAVED] = save
    return changed
  }

  /** The minute from which nothing counted in this minute matters any more. */
  #idleFrom(): number {
    const { fill, day } = this.#bucket
    const idle = this.minuteEnd + fill + SLACK
    return Math.ceil((day === Infinity ? idle : Math.max(idle, dayStart(this.#day + 1) + DAY_SLACK)) / MINUTE)
  }

  /** Puts back a day's count that was saved before a restart. */
  restoreDay(records: Records, a: number, b: number, day: number, count: number): void {
    const shard = records.shard(a)
    let at = shard.find(a, b)
    if (at < 0) at = shard.add(a, b)
    const { words } = shard
    words[at + DAY_INDEX] = day
    words[at + DAY_COUNT] = count
    words[at + IDLE] = Math.ceil((dayStart(day) + DAY + DAY_SLACK) / MINUTE)
  }
}
