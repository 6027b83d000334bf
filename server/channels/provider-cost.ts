/** An amount that a provider charges for a message or a call. */
export interface ProviderCost {
  amount: number
  /** Currency code (ISO 4217). */
  currency: string
}

/** Reads an amount that is a number or a text, without its sign; undefined if there is none. */
export function readCost(price: unknown, currency: unknown): ProviderCost | undefined {
  const isText = typeof price === 'string' && /^-?\d{1,9}(\.\d{1,12})?$/.test(price)
  if (!isText && typeof price !== 'number') return undefined
  const amount = Math.abs(Number(price))
  if (!Number.isFinite(amount) || typeof currency !== 'string' || !/^[A-Za-z]{3}$/.test(currency)) return undefined
  return { amount, currency: currency.toUpperCase() }
}
