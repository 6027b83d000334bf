import { MINUTE, SECOND } from '../../platform/clock.ts'
import type { Rule } from './limiter.ts'
import { IDLE_MINUTE_OFFSET, PAYLOAD_OFFSET, Records, type Shard, USED_OFFSET } from './records.ts'
import { UNITS_PER_TOKEN } from './table.ts'
import { clockSlackMs, MINUTE_SLACK_MS } from './windows.ts'

/**
 * The meter of one rule for one caller: `read` first, then `charge` if the call is allowed. `hashA` and `hashB` are the halves of the
 * caller's fingerprint.
 */
export interface Meter {
  /** Milliseconds until one more call is allowed; 0 if it is now. */
  waitMs: number
  remaining: number
  /** Milliseconds until the window ends, the oldest call leaves it, or the bucket is full. */
  resetMs: number
  read(hashA: number, hashB: number, now: number): void
  /** Charges the caller of the last `read`. */
  charge(hashA: number, hashB: number, now: number): void
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
  /** The shard of the caller of the last `findRecord`. */
  protected shard: Shard
  #recordOffset = -1

  constructor(records: Records) {
    this.records = records
    this.shard = records.shard(0)
  }

  abstract read(hashA: number, hashB: number, now: number): void
  abstract charge(hashA: number, hashB: number, now: number): void

  /** Returns the offset of the caller's record in its shard, or -1. */
  protected findRecord(hashA: number, hashB: number): number {
    this.shard = this.records.shard(hashA)
    this.#recordOffset = this.shard.find(hashA, hashB)
    return this.#recordOffset
  }

  /** Returns the offset of the record for the caller of the last `findRecord`, adding one if there is none. */
  protected ensureRecord(hashA: number, hashB: number): number {
    if (this.#recordOffset < 0) this.#recordOffset = this.shard.add(hashA, hashB)
    return this.#recordOffset
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

  read(hashA: number, hashB: number, now: number): void {
    const offset = this.findRecord(hashA, hashB)
    const { words, floats } = this.shard
    this.#start = now
    this.#count = 0
    if (offset >= 0 && now < floats[(offset + PAYLOAD_OFFSET) >> 1]! + this.#windowMs) {
      if (floats[(offset + PAYLOAD_OFFSET) >> 1]! - now > clockSlackMs(this.#windowMs))
        floats[(offset + PAYLOAD_OFFSET) >> 1] = now
      this.#start = floats[(offset + PAYLOAD_OFFSET) >> 1]!
      this.#count = words[offset + USED_OFFSET]!
    }
    this.#setResult(now)
  }

  charge(hashA: number, hashB: number, now: number): void {
    const offset = this.ensureRecord(hashA, hashB)
    const { shard } = this
    this.#count++
    shard.words[offset + USED_OFFSET] = this.#count
    shard.floats[(offset + PAYLOAD_OFFSET) >> 1] = this.#start
    shard.words[offset + IDLE_MINUTE_OFFSET] = Math.ceil(
      (this.#start + this.#windowMs + clockSlackMs(this.#windowMs)) / MINUTE,
    )
    this.#setResult(now)
  }

  #setResult(now: number): void {
    this.resetMs = this.#start + this.#windowMs - now
    this.remaining = Math.max(0, this.#limit - this.#count)
    this.waitMs = this.remaining > 0 ? 0 : this.resetMs
  }
}

const NEWEST_TIME_OFFSET = PAYLOAD_OFFSET
const RING_HEAD_OFFSET = PAYLOAD_OFFSET + 2
const RING_OFFSET = PAYLOAD_OFFSET + 4

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
    super(new Records(RING_OFFSET + limit + (limit % 2), maxCallers))
    this.#limit = limit
    this.#windowMs = seconds * SECOND
  }

  read(hashA: number, hashB: number, now: number): void {
    const offset = this.findRecord(hashA, hashB)
    const { words, floats } = this.shard
    this.#time = now
    this.#count = 0
    this.#head = 0
    let oldest = now
    if (offset >= 0 && now - floats[(offset + NEWEST_TIME_OFFSET) >> 1]! < this.#windowMs) {
      this.#head = words[offset + RING_HEAD_OFFSET]!
      this.#count = words[offset + USED_OFFSET]!
      this.#moveBack(words, floats, offset, now)
      this.#time = Math.max(now, floats[(offset + NEWEST_TIME_OFFSET) >> 1]!)
      while (this.#count > 0 && this.#age(words[offset + RING_OFFSET + this.#head]!) >= this.#windowMs)
        this.#dropOldest()
      if (this.#count > 0) oldest = this.#time - this.#age(words[offset + RING_OFFSET + this.#head]!)
    }
    this.#setResult(oldest, now)
  }

  charge(hashA: number, hashB: number, now: number): void {
    const offset = this.ensureRecord(hashA, hashB)
    const { words, floats } = this.shard
    if (this.#count === this.#limit) this.#dropOldest()
    words[offset + RING_OFFSET + ((this.#head + this.#count) % this.#limit)] = this.#time | 0
    words[offset + USED_OFFSET] = ++this.#count
    words[offset + RING_HEAD_OFFSET] = this.#head
    floats[(offset + NEWEST_TIME_OFFSET) >> 1] = this.#time
    words[offset + IDLE_MINUTE_OFFSET] = Math.ceil(
      (this.#time + this.#windowMs + clockSlackMs(this.#windowMs)) / MINUTE,
    )
    this.#setResult(this.#time - this.#age(words[offset + RING_OFFSET + this.#head]!), now)
  }

  /** After the clock was set far back, treats calls later than now as made now. */
  #moveBack(words: Int32Array, floats: Float64Array, offset: number, now: number): void {
    const newestTime = floats[(offset + NEWEST_TIME_OFFSET) >> 1]!
    if (newestTime - now <= clockSlackMs(this.#windowMs)) return
    for (let i = 0; i < this.#count; i++) {
      const entryOffset = offset + RING_OFFSET + ((this.#head + i) % this.#limit)
      const time = newestTime - (((newestTime | 0) - words[entryOffset]!) | 0)
      if (time > now) words[entryOffset] = now | 0
    }
    floats[(offset + NEWEST_TIME_OFFSET) >> 1] = now
  }

  #age(time: number): number {
    return ((this.#time | 0) - time) | 0
  }

  #dropOldest(): void {
    this.#head = (this.#head + 1) % this.#limit
    this.#count--
  }

  #setResult(oldest: number, now: number): void {
    this.resetMs = oldest + this.#windowMs - now
    this.remaining = this.#limit - this.#count
    this.waitMs = this.remaining > 0 ? 0 : this.resetMs
  }
}

const LAST_CHARGE_OFFSET = PAYLOAD_OFFSET
const DEBT_OFFSET = PAYLOAD_OFFSET + 2

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

  read(hashA: number, hashB: number, now: number): void {
    const offset = this.findRecord(hashA, hashB)
    const { floats } = this.shard
    this.#time = now
    this.#debt = 0
    if (offset >= 0) {
      const lastCharge = floats[(offset + LAST_CHARGE_OFFSET) >> 1]!
      this.#debt = floats[(offset + DEBT_OFFSET) >> 1]!
      if (lastCharge - now > MINUTE_SLACK_MS) floats[(offset + LAST_CHARGE_OFFSET) >> 1] = now
      else if (lastCharge > now) this.#time = lastCharge
      else this.#debt = Math.max(0, this.#debt - (now - lastCharge) * this.#refillPerMs)
    }
    this.#setResult(now)
  }

  charge(hashA: number, hashB: number, now: number): void {
    const offset = this.ensureRecord(hashA, hashB)
    const { shard } = this
    this.#debt = Math.min(this.#capacity, this.#debt + UNITS_PER_TOKEN)
    const fullTime = this.#time + this.#debt / this.#refillPerMs
    shard.words[offset + USED_OFFSET] = this.#debt / UNITS_PER_TOKEN
    shard.floats[(offset + LAST_CHARGE_OFFSET) >> 1] = this.#time
    shard.floats[(offset + DEBT_OFFSET) >> 1] = this.#debt
    shard.words[offset + IDLE_MINUTE_OFFSET] = Math.ceil((fullTime + MINUTE_SLACK_MS) / MINUTE)
    this.#setResult(now)
  }

  #setResult(now: number): void {
    const missingUnits = this.#debt + UNITS_PER_TOKEN - this.#capacity
    this.waitMs = missingUnits > 0 ? Math.ceil(missingUnits / this.#refillPerMs) + this.#time - now : 0
    this.remaining = Math.max(0, Math.floor((this.#capacity - this.#debt) / UNITS_PER_TOKEN))
    this.resetMs = Math.ceil(this.#debt / this.#refillPerMs) + this.#time - now
  }
}
