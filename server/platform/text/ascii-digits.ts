/** Digits of the Indian scripts. In each script, the code of zero has the remainder 6 after division by 16. */
const INDIAN_DIGITS = /[०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯]/g
/** The characters that turn a digit into a keycap emoji. */
const KEYCAP_CHARACTERS = /[\ufe0f\u20e3]/g

/** Returns the text with the digits 0 to 9 in place of those of Indian keyboards, full-width digits and keycap emoji. */
export function toAsciiDigits(text: string): string {
  return text
    .normalize('NFKC')
    .replace(KEYCAP_CHARACTERS, '')
    .replace(INDIAN_DIGITS, (digit) => String((digit.charCodeAt(0) % 16) - 6))
}
