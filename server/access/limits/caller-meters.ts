import { MINUTE, SECOND } from '../../platform/clock.ts'
import type { Rule } from './limiter.ts'
import { IDLE_MINUTE, PAYLOAD_OFFSET, Records, type Shard, USED } from './records.ts'
import { UNITS_PER_TOKEN } from './table.ts'
import { clockSlack, MINUTE_SLACK_MS } from './windows.ts'

/** The meter of one rule for one caller: `read` first, then `charge` if the call is allowed. */
export interface Meter {
  /** Milliseconds until one more call is allowed; 0 if it is now. */
  waitMs: number
  remaining: number
  /** Milliseconds until the window ends, the oldest call leaves it, or the bucket is full. */
  resetMs: number
  read(a: number, b: number, now: number): void
  /** Charges the caller of the last `read`. */
  charge(a: number, b: number, now: number): void
}

/** Creates the meter of a rule, which stores the counts of up to `maxCallers` callers. */
export function createMeter(rule: Rule, maxCallers: number): Meter & { records: Records } {
  if (rule.kind === 'fixed') return new FixedWindow(rule, maxCallers)
  if (rule.kind === 'rolling') return new RollingWindow(rule, maxCallers)
  return new TokenBucket(rule, maxCallers)
}

abstract class CallerMeter implements Meter {
  waitMs = 0
  remaining = 0
  resetMs = 0
  readonly records: Records
  /** The shard of the caller of the last `find`. */
  protected shard: Shard
  #at = -1

  constructor(records: Records) {
    this.records = records
    this.shard = records.shard(0)
  }

  abstract read(a: number, b: number, now: number): void
  abstract charge(a: number, b: number, now: number): void

  /** Returns the offset of the caller's record in its shard, or -1. */
  protected find(a: number, b: number): number {
    this.shard = this.records.shard(a)
    this.#at = this.shard.find(a, b)
    return this.#at
  }

  /** Returns the offset of the record for the caller of the last `find`, adding one if there is none. */
  protected ensure(a: number, b: number): number {
    if (this.#at < 0) this.#at = this.shard.add(a, b)
    return this.#at
  }
}

class FixedWindow extends CallerMeter {
  readonly #limit: number
  readonly #windowMs: number
  #start = 0
  #count = 0

  constructor({ limit, seconds }: Rule, maxCallers: number) {
    super(new Records(PAYLOAD_OFFSET + 2, maxCallers))
    this.#limit = limit
    this.#windowMs = seconds * SECOND
  }

  read(a: number, b: number, now: number): void {
    const at = this.find(a, b)
    const { words, floats } = this.shard
    this.#start = now
    this.#count = 0
    if (at >= 0 && now < floats[(at + PAYLOAD_OFFSET) >> 1]! + this.#windowMs) {
      if (floats[(at + PAYLOAD_OFFSET) >> 1]! - now > clockSlack(this.#windowMs))
        floats[(at + PAYLOAD_OFFSET) >> 1] = now
      this.#start = floats[(at + PAYLOAD_OFFSET) >> 1]!
      this.#count = words[at + USED]!
    }
    this.#setResult(now)
  }

  charge(a: number, b: number, now: number): void {
    const at = this.ensure(a, b)
    const { shard } = this
    this.#count++
    shard.words[at + USED] = this.#count
    shard.floats[(at + PAYLOAD_OFFSET) >> 1] = this.#start
    shard.words[at + IDLE_MINUTE] = Math.ceil((this.#start + this.#windowMs + clockSlack(this.#windowMs)) / MINUTE)
    this.#setResult(now)
  }

  #setResult(now: number): void {
    this.resetMs = this.#start + this.#windowMs - now
    this.remaining = Math.max(0, this.#limit - this.#count)
    this.waitMs = this.remaining > 0 ? 0 : this.resetMs
  }
}

const NEWEST_TIME = PAYLOAD_OFFSET
const RING_HEAD = PAYLOAD_OFFSET + 2
const RING_START = PAYLOAD_OFFSET + 4

/**
 * Stores the times of the last calls in a ring buffer with `limit` entries. Only the low 32 bits of a time are stored: differences are
 * exact up to 24 days, and no entry is older than two windows when it is read.
 */
class RollingWindow extends CallerMeter {
  readonly #limit: number
  readonly #windowMs: number
  #time = 0
  #count = 0
  #head = 0

  constructor({ limit, seconds }: Rule, maxCallers: number) {
    super(new Records(RING_START + limit + (limit % 2), maxCallers))
    this.#limit = limit
    this.#windowMs = seconds * SECOND
  }

  read(a: number, b: number, now: number): void {
    const at = this.find(a, b)
    const { words, floats } = this.shard
    this.#time = now
    this.#count = 0
    this.#head = 0
    let oldest = now
    if (at >= 0 && now - floats[(at + NEWEST_TIME) >> 1]! < this.#windowMs) {
      this.#head = words[at + RING_HEAD]!
      this.#count = words[at + USED]!
      this.#moveBack(words, floats, at, now)
      this.#time = Math.max(now, floats[(at + NEWEST_TIME) >> 1]!)
      while (this.#count > 0 && this.#age(words[at + RING_START + this.#head]!) >= this.#windowMs) this.#drop()
      if (this.#count > 0) oldest = this.#time - this.#age(words[at + RING_START + this.#head]!)
    }
    this.#setResult(oldest, now)
  }

  charge(a: number, b: number, now: number): void {
    const at = this.ensure(a, b)
    const { words, floats } = this.shard
    if (this.#count === this.#limit) this.#drop()
    words[at + RING_START + ((this.#head + this.#count) % this.#limit)] = this.#time | 0
    words[at + USED] = ++this.#count
    words[at + RING_HEAD] = this.#head
    floats[(at + NEWEST_TIME) >> 1] = this.#time
    words[at + IDLE_MINUTE] = Math.ceil((this.#time + this.#windowMs + clockSlack(this.#windowMs)) / MINUTE)
    this.#setResult(this.#time - this.#age(words[at + RING_START + this.#head]!), now)
  }

  /** After the clock was set far back, treats calls later than now as made now. */
  #moveBack(words: Int32Array, floats: Float64Array, at: number, now: number): void {
    const newest = floats[(at + NEWEST_TIME) >> 1]!
    if (newest - now <= clockSlack(this.#windowMs)) return
    for (let i = 0; i < this.#count; i++) {
      const entry = at + RING_START + ((this.#head + i) % this.#limit)
      const time = newest - (((newest | 0) - words[entry]!) | 0)
      if (time > now) words[entry] = now | 0
    }
    floats[(at + NEWEST_TIME) >> 1] = now
  }

  #age(time: number): number {
    return ((this.#time | 0) - time) | 0
  }

  #drop(): void {
    this.#head = (this.#head + 1) % this.#limit
    this.#count--
  }

  #setResult(oldest: number, now: number): void {
    this.resetMs = oldest + this.#windowMs - now
    this.remaining = this.#limit - this.#count
    this.waitMs = this.remaining > 0 ? 0 : this.resetMs
  }
}

const LAST_CHARGE = PAYLOAD_OFFSET
const DEBT = PAYLOAD_OFFSET + 2

class TokenBucket extends CallerMeter {
  readonly #capacity: number
  readonly #refillPerMs: number
  #time = 0
  #debt = 0

  constructor({ limit, seconds }: Rule, maxCallers: number) {
    super(new Records(PAYLOAD_OFFSET + 4, maxCallers))
    this.#capacity = limit * UNITS_PER_TOKEN
    this.#refillPerMs = (limit * UNITS_PER_TOKEN) / (seconds * SECOND)
  }

  read(a: number, b: number, now: number): void {
    const at = this.find(a, b)
    const { floats } = this.shard
    this.#time = now
    this.#debt = 0
    if (at >= 0) {
      const last = floats[(at + LAST_CHARGE) >> 1]!
      this.#debt = floats[(at + DEBT) >> 1]!
      if (last - now > MINUTE_SLACK_MS) floats[(at + LAST_CHARGE) >> 1] = now
      else if (last > now) this.#time = last
      else this.#debt = Math.max(0, this.#debt - (now - last) * this.#refillPerMs)
    }
    this.#setResult(now)
  }

  charge(a: number, b: number, now: number): void {
    const at = this.ensure(a, b)
    const { shard } = this
    this.#debt = Math.min(this.#capacity, this.#debt + UNITS_PER_TOKEN)
    const full = this.#time + this.#debt / this.#refillPerMs
    shard.words[at + USED] = this.#debt / UNITS_PER_TOKEN
    shard.floats[(at + LAST_CHARGE) >> 1] = this.#time
    shard.floats[(at + DEBT) >> 1] = this.#debt
    shard.words[at + IDLE_MINUTE] = Math.ceil((full + MINUTE_SLACK_MS) / MINUTE)
    this.#setResult(now)
  }

  #setResult(now: number): void {
    const missingUnits = this.#debt + UNITS_PER_TOKEN - this.#capacity
    this.waitMs = missingUnits > 0 ? Math.ceil(missingUnits / this.#refillPerMs) + this.#time - now : 0
    this.remaining = Math.max(0, Math.floor((this.#capacity - this.#debt) / UNITS_PER_TOKEN))
    this.resetMs = Math.ceil(this.#debt / this.#refillPerMs) + this.#time - now
  }
}
