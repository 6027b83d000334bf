/** Amounts are stored in millionths of a currency unit, so that sums are exact. */
const MICROS_PER_UNIT = 1_000_000

/** Maximum amount in the API, in currency units. In millionths, it is an exact JavaScript number. */
export const MAX_AMOUNT = 1_000_000_000

export function toMicros(amount: number): number {
  return Math.round(amount * MICROS_PER_UNIT)
}

export function fromMicros(micros: number): number {
  return micros / MICROS_PER_UNIT
}

/** Formats an amount for error messages, such as `12.50 INR`. */
export function formatAmount(micros: number, currency: string): string {
  const digits = micros % 10_000 === 0 ? 2 : 6
  return `${fromMicros(micros).toFixed(digits)} ${currency}`
}
