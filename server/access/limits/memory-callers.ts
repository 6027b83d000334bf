import { BoundedMap } from '../../platform/bounded-map.ts'
import { createMeter, type Meter } from './caller-meters.ts'
import { Fingerprint } from './fingerprint.ts'
import { type CallerDecision, type LimitedCaller, MAX_LIMITED_CALLERS, type Rule, type RuleState } from './limiter.ts'
import type { Records } from './records.ts'
import { toWholeSeconds } from './windows.ts'

/** In-process limits of callers other than partner keys. */
export class MemoryCallers {
  readonly #fingerprint = new Fingerprint()
  readonly #meters = new Map<string, Meter & { records: Records }>()
  readonly #limited = new BoundedMap<string, LimitedCaller>(MAX_LIMITED_CALLERS)
  readonly #maxCallers: number

  /** Each rule stores the counts of up to `maxCallers` callers; beyond that, callers are evicted. */
  constructor(maxCallers: number) {
    this.#maxCallers = maxCallers
  }

  decide(caller: string, rules: readonly Rule[], now: number, mode: 'take' | 'peek' | 'charge'): CallerDecision {
    const { hashA, hashB } = this.#fingerprint.of(caller)
    let waitMs = 0
    let rejectedBy: string | undefined
    for (const rule of rules) {
      const meter = this.#getMeter(rule)
      meter.read(hashA, hashB, now)
      if (meter.waitMs > waitMs) {
        waitMs = meter.waitMs
        rejectedBy = rule.name
      }
    }
    const isCharged = mode === 'charge' || (mode === 'take' && waitMs === 0)
    const states: RuleState[] = []
    for (const rule of rules) {
      const { name, limit, listed } = rule
      const meter = this.#getMeter(rule)
      if (isCharged) meter.charge(hashA, hashB, now)
      if (isCharged && listed && meter.waitMs > 0) this.#addLimited(caller, name, now + meter.waitMs)
      states.push({ rule: name, limit, remaining: meter.remaining, reset: toWholeSeconds(meter.resetMs) })
    }
    return { rejectedBy, retryAfter: toWholeSeconds(waitMs), states }
  }

  listLimited(now: number): LimitedCaller[] {
    for (const [id, { until }] of this.#limited) if (until <= now) this.#limited.delete(id)
    return [...this.#limited.values()]
  }

  sweep(minute: number): void {
    for (const meter of this.#meters.values()) meter.records.sweep(minute)
  }

  get bytes(): number {
    let bytes = 0
    for (const { records } of this.#meters.values()) bytes += records.bytes
    return bytes
  }

  #getMeter(rule: Rule): Meter & { records: Records } {
    let meter = this.#meters.get(rule.name)
    if (!meter) {
      meter = createMeter(rule, this.#maxCallers)
      this.#meters.set(rule.name, meter)
    }
    return meter
  }

  #addLimited(caller: string, rule: string, until: number): void {
    const id = `${rule} ${caller}`
    this.#limited.set(id, { caller, rule, until })
  }
}
