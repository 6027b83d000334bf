import { MINUTE, SECOND } from '../../platform/clock.ts'
import type { Rule } from './limiter.ts'
import { IDLE, OWN, Records, type Shard, USED } from './records.ts'
import { TOKEN } from './table.ts'
import { SLACK, slackOf } from './windows.ts'

/** The meter of one rule for one caller, while a call is decided: first looked at, then charged or left alone. */
export interface Meter {
  /** Milliseconds until there is room for one more call; 0 is now. */
  wait: number
  remaining: number
  /** Milliseconds until the window ends, the oldest call leaves it, or the bucket is full. */
  reset: number
  look(a: number, b: number, now: number): void
  /** Of the caller that was looked at last. */
  charge(a: number, b: number, now: number): void
}

/** The meters of all callers under one rule. */
export function meterOf(rule: Rule, most: number): Meter & { records: Records } {
  if (rule.kind === 'fixed') return new FixedWindow(rule, most)
  if (rule.kind === 'rolling') return new RollingWindow(rule, most)
  return new Tokens(rule, most)
}

abstract class CallerMeter implements Meter {
  wait = 0
  remaining = 0
  reset = 0
  readonly records: Records
  /** Where the caller's record is, or would be. */
  protected shard: Shard
  #at = -1

  constructor(records: Records) {
    this.records = records
    this.shard = records.shard(0)
  }

  abstract look(a: number, b: number, now: number): void
  abstract charge(a: number, b: number, now: number): void

  /** Where a caller's record begins in its shard, or -1. */
  protected find(a: number, b: number): number {
    this.shard = this.records.shard(a)
    this.#at = this.shard.find(a, b)
    return this.#at
  }

  /** The same for the caller that was looked for last, with a record made where there is none. */
  protected found(a: number, b: number): number {
    if (this.#at < 0) this.#at = this.shard.add(a, b)
    return this.#at
  }
}

class FixedWindow extends CallerMeter {
  readonly #limit: number
  readonly #window: number
  #start = 0
  #count = 0

  constructor({ limit, seconds }: Rule, most: number) {
    super(new Records(OWN + 2, most))
    this.#limit = limit
    this.#window = seconds * SECOND
  }

  look(a: number, b: number, now: number): void {
    const at = this.find(a, b)
    const { words, floats } = this.shard
    this.#start = now
    this.#count = 0
    if (at >= 0 && now < floats[(at + OWN) >> 1]! + this.#window) {
      if (floats[(at + OWN) >> 1]! - now > slackOf(this.#window)) floats[(at + OWN) >> 1] = now
      this.#start = floats[(at + OWN) >> 1]!
      this.#count = words[at + USED]!
    }
    this.#tell(now)
  }

  charge(a: number, b: number, now: number): void {
    const at = this.found(a, b)
    const { shard } = this
    this.#count++
    shard.words[at + USED] = this.#count
    shard.floats[(at + OWN) >> 1] = this.#start
    shard.words[at + IDLE] = Math.ceil((this.#start + this.#window + slackOf(this.#window)) / MINUTE)
    this.#tell(now)
  }

  #tell(now: number): void {
    this.reset = this.#start + this.#window - now
    this.remaining = Math.max(0, this.#limit - this.#count)
    this.wait = this.remaining > 0 ? 0 : this.reset
  }
}

const NEWEST = OWN
const HEAD = OWN + 2
const RING = OWN + 4

/**
 * The times of the last calls in a ring as long as the limit: more need not be known. They are kept as their low 32 bits, whose
 * differences are exact over 24 days, and none is older than two windows when it is looked at.
 */
class RollingWindow extends CallerMeter {
  readonly #limit: number
  readonly #window: number
  #time = 0
  #count = 0
  #head = 0

  constructor({ limit, seconds }: Rule, most: number) {
    super(new Records(RING + limit + (limit % 2), most))
    this.#limit = limit
    this.#window = seconds * SECOND
  }

  look(a: number, b: number, now: number): void {
    const at = this.find(a, b)
    const { words, floats } = this.shard
    this.#time = now
    this.#count = 0
    this.#head = 0
    let oldest = now
    if (at >= 0 && now - floats[(at + NEWEST) >> 1]! < this.#window) {
      this.#head = words[at + HEAD]!
      this.#count = words[at + USED]!
      this.#moveBack(words, floats, at, now)
      this.#time = Math.max(now, floats[(at + NEWEST) >> 1]!)
      while (this.#count > 0 && this.#age(words[at + RING + this.#head]!) >= this.#window) this.#drop()
      if (this.#count > 0) oldest = this.#time - this.#age(words[at + RING + this.#head]!)
    }
    this.#tell(oldest, now)
  }

  charge(a: number, b: number, now: number): void {
    const at = this.found(a, b)
    const { words, floats } = this.shard
    if (this.#count === this.#limit) this.#drop()
    words[at + RING + ((this.#head + this.#count) % this.#limit)] = this.#time | 0
    words[at + USED] = ++this.#count
    words[at + HEAD] = this.#head
    floats[(at + NEWEST) >> 1] = this.#time
    words[at + IDLE] = Math.ceil((this.#time + this.#window + slackOf(this.#window)) / MINUTE)
    this.#tell(this.#time - this.#age(words[at + RING + this.#head]!), now)
  }

  /** A clock set far back: calls later than now count as made now. */
  #moveBack(words: Int32Array, floats: Float64Array, at: number, now: number): void {
    const newest = floats[(at + NEWEST) >> 1]!
    if (newest - now <= slackOf(this.#window)) return
    for (let i = 0; i < this.#count; i++) {
      const entry = at + RING + ((this.#head + i) % this.#limit)
      const time = newest - (((newest | 0) - words[entry]!) | 0)
      if (time > now) words[entry] = now | 0
    }
    floats[(at + NEWEST) >> 1] = now
  }

  #age(time: number): number {
    return ((this.#time | 0) - time) | 0
  }

  #drop(): void {
    this.#head = (this.#head + 1) % this.#limit
    this.#count--
  }

  #tell(oldest: number, now: number): void {
    this.reset = oldest + this.#window - now
    this.remaining = this.#limit - this.#count
    this.wait = this.remaining > 0 ? 0 : this.reset
  }
}

const LAST = OWN
const DEBT = OWN + 2

class Tokens extends CallerMeter {
  readonly #capacity: number
  readonly #refill: number
  #time = 0
  #debt = 0

  constructor({ limit, seconds }: Rule, most: number) {
    super(new Records(OWN + 4, most))
    this.#capacity = limit * TOKEN
    this.#refill = (limit * TOKEN) / (seconds * SECOND)
  }

  look(a: number, b: number, now: number): void {
    const at = this.find(a, b)
    const { floats } = this.shard
    this.#time = now
    this.#debt = 0
    if (at >= 0) {
      const last = floats[(at + LAST) >> 1]!
      this.#debt = floats[(at + DEBT) >> 1]!
      if (last - now > SLACK) floats[(at + LAST) >> 1] = now
      else if (last > now) this.#time = last
      else this.#debt = Math.max(0, this.#debt - (now - last) * this.#refill)
    }
    this.#tell(now)
  }

  charge(a: number, b: number, now: number): void {
    const at = this.found(a, b)
    const { shard } = this
    this.#debt = Math.min(this.#capacity, this.#debt + TOKEN)
    const full = this.#time + this.#debt / this.#refill
    shard.words[at + USED] = this.#debt / TOKEN
    shard.floats[(at + LAST) >> 1] = this.#time
    shard.floats[(at + DEBT) >> 1] = this.#debt
    shard.words[at + IDLE] = Math.ceil((full + SLACK) / MINUTE)
    this.#tell(now)
  }

  #tell(now: number): void {
    const missing = this.#debt + TOKEN - this.#capacity
    this.wait = missing > 0 ? Math.ceil(missing / this.#refill) + this.#time - now : 0
    this.remaining = Math.max(0, Math.floor((this.#capacity - this.#debt) / TOKEN))
    this.reset = Math.ceil(this.#debt / this.#refill) + this.#time - now
  }
}
