/** E.164: 7 to 15 digits; no country code begins with 0. */
export const PHONE_PATTERN = '^\\+[1-9]\\d{6,14}$'

export const PHONE_FORMAT_MESSAGE =
  'must be in E.164 format: a + and 7 to 15 digits that begin with the country code, without 00, spaces or hyphens, such as +919812345678'

/**
 * Country codes with a trunk prefix 0, which is only dialled domestically. (In other countries, such as Italy, a leading 0 is part
 * of the number.) For India, only a 0 followed by ten digits counts.
 */
const TRUNK_PREFIX =
  /^\+(?:91(?=0\d{10}$)|20|27|31|32|33|41|43|44|46|49|60|61|62|63|64|66|81|82|84|90|92|94|98|212|234|254|255|256|353|880|962|964|966|971|972|977)0/

/** Returns a number in E.164 format without the trunk prefix after the country code; unchanged if it has none. */
export function withoutTrunkPrefix(phone: string): string {
  const countryCode = TRUNK_PREFIX.exec(phone)?.[0].slice(0, -1)
  return countryCode === undefined ? phone : `${countryCode}${phone.slice(countryCode.length + 1)}`
}

/** Rejects numbers with a trunk prefix, so that each number has one spelling. Other format errors are left to the schema. */
export function phoneError(phone: unknown): string | undefined {
  if (typeof phone !== 'string' || !new RegExp(PHONE_PATTERN).test(phone)) return undefined
  const countryCode = TRUNK_PREFIX.exec(phone)?.[0].slice(0, -1)
  return (
    countryCode &&
    `must be without the 0 after ${countryCode}, which is only dialled domestically: ${withoutTrunkPrefix(phone)}`
  )
}
