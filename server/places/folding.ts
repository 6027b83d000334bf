/**
 * Normalises a name for comparison: lower case, no accents, one space between words. Vowel signs of Indian scripts are letters and
 * stay; the nukta is removed because people often omit it.
 */
export function foldName(text: string): string {
  if (PLAIN_PATTERN.test(text)) return text.toLowerCase()
  return (ASCII_PATTERN.test(text) ? text : text.normalize('NFD').replace(ACCENT_PATTERN, ''))
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replace(PUNCTUATION_PATTERN, ' ')
    .trim()
}

const PLAIN_PATTERN = /^[a-z0-9]+( [a-z0-9]+)*$/i
const ASCII_PATTERN = /^[\x20-\x7e]*$/
const ACCENT_PATTERN = /[\u0300-\u036f\u093c'’‘ʻ]/g
const PUNCTUATION_PATTERN = /[^\p{L}\p{M}\p{N}]+/gu
