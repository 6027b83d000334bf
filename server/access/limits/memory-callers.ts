import { type Meter, meterOf } from './caller-meters.ts'
import { Fingerprint } from './fingerprint.ts'
import { type Limited, MOST_LISTED, type Rule, type Standing, type Standings } from './limiter.ts'
import type { Records } from './records.ts'
import { seconds } from './windows.ts'

/** The limits of callers that are not partner keys, counted in the process. */
export class MemoryCallers {
  readonly #fingerprint = new Fingerprint()
  readonly #meters = new Map<string, Meter & { records: Records }>()
  readonly #limited = new Map<string, Limited>()
  readonly #most: number

  /** Of how many callers a rule keeps count; many more addresses than that push each other out. */
  constructor(most: number) {
    this.#most = most
  }

  decide(caller: string, rules: readonly Rule[], now: number, mode: 'take' | 'peek' | 'charge'): Standings {
    const { a, b } = this.#fingerprint.of(caller)
    let wait = 0
    let refused: string | undefined
    for (const rule of rules) {
      const meter = this.#meter(rule)
      meter.look(a, b, now)
      if (meter.wait > wait) {
        wait = meter.wait
        refused = rule.name
      }
    }
    const charged = mode === 'charge' || (mode === 'take' && wait === 0)
    const standings: Standing[] = []
    for (const rule of rules) {
      const { name, limit, listed } = rule
      const meter = this.#meter(rule)
      if (charged) meter.charge(a, b, now)
      if (charged && listed && meter.wait > 0) this.#list(caller, name, now + meter.wait)
      standings.push({ rule: name, limit, remaining: meter.remaining, reset: seconds(meter.reset) })
    }
    return { refused, retryAfter: seconds(wait), standings }
  }

  limited(now: number): Limited[] {
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

  #meter(rule: Rule): Meter & { records: Records } {
    let meter = this.#meters.get(rule.name)
    if (!meter) {
      meter = meterOf(rule, this.#most)
      this.#meters.set(rule.name, meter)
    }
    return meter
  }

  #list(caller: string, rule: string, until: number): void {
    const id = `${rule} ${caller}`
    this.#limited.delete(id)
    this.#limited.set(id, { caller, rule, until })
    if (this.#limited.size > MOST_LISTED) this.#limited.delete(this.#limited.keys().next().value!)
  }
}
