import { findNumberingPlan } from './numbering-plans.ts'

/** E.164: 7 to 15 digits; no country code begins with 0. */
export const PHONE_PATTERN = '^\\+[1-9]\\d{6,14}$'
const PHONE_REGEXP = new RegExp(PHONE_PATTERN)

export const PHONE_FORMAT_MESSAGE =
  'must be in E.164 format: a + and 7 to 15 digits that begin with the country code, without 00, spaces or hyphens, such as +919812345678'

/** Returns whether a text is a phone number in E.164 format that the numbering plan of its country assigns. */
function isDialable(phone: string): boolean {
  const plan = PHONE_REGEXP.test(phone) ? findNumberingPlan(phone) : undefined
  return plan?.nationalNumberPattern.test(phone.slice(1 + plan.callingCode.length)) ?? false
}

/**
 * Returns a dialable number in E.164 format, without a trunk prefix after the country code: +9109812345678 becomes +919812345678.
 * Undefined if the number cannot be dialled.
 */
export function dialableNumber(phone: string): string | undefined {
  if (isDialable(phone)) return phone
  const { callingCode = '', trunkPrefix } = findNumberingPlan(phone) ?? {}
  if (trunkPrefix === undefined || !phone.startsWith(`+${callingCode}${trunkPrefix}`)) return undefined
  const corrected = `+${callingCode}${phone.slice(1 + callingCode.length + trunkPrefix.length)}`
  return isDialable(corrected) ? corrected : undefined
}

/**
 * Rejects numbers that cannot be dialled, and numbers with a trunk prefix, so that each number has one spelling. Other format errors
 * are left to the schema.
 */
export function phoneError(phone: unknown): string | undefined {
  if (typeof phone !== 'string' || !PHONE_REGEXP.test(phone) || isDialable(phone)) return undefined
  const plan = findNumberingPlan(phone)
  if (!plan)
    return `must begin with + and a country code, such as +91; ${phone} begins with none. Check the digits and the country code`
  const corrected = dialableNumber(phone)
  return corrected === undefined
    ? `must be a number that can be dialled; ${phone} is not a valid number of the country code +${plan.callingCode}. Check the digits and the country code`
    : `must be without the ${plan.trunkPrefix} after +${plan.callingCode}, which is only dialled domestically: ${corrected}`
}
