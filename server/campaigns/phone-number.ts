/** Seven to fifteen digits; no country's code begins with 0. */
export const PHONE = '^\\+[1-9]\\d{6,14}$'

export const PHONE_WORDS =
  'must be in E.164: a + and 7 to 15 digits that begin with the country code, without 00, spaces or hyphens, such as +919812345678'

/**
 * Countries where a 0 is dialled before the number at home that is no part of it, and no number begins with one. (Elsewhere, as in
 * Italy, a 0 may belong to the number.) In India only that of ten more digits can be one.
 */
const TRUNK_ZERO =
  /^\+(?:91(?=0\d{10}$)|20|27|31|32|33|41|43|44|46|49|60|61|62|63|64|66|81|82|84|90|92|94|98|212|234|254|255|256|353|880|962|964|966|971|972|977)0/

/** One person is one number: what else could be dialled for it is refused. Undefined where nothing is wrong, or no number at all. */
export function phoneFault(phone: unknown): string | undefined {
  if (typeof phone !== 'string' || !new RegExp(PHONE).test(phone)) return undefined
  const code = TRUNK_ZERO.exec(phone)?.[0].slice(0, -1)
  return (
    code &&
    `must be without the 0 after ${code}, which is dialled within the country only: ${code}${phone.slice(code.length + 1)}`
  )
}
