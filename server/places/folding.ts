/**
 * Normalises a name for comparison: lower case, no accents, one space between words. Vowel signs of Indian scripts are letters and
 * stay; the nukta is removed because people often omit it.
 */
export function foldName(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  return (ASCII.test(text) ? text : text.normalize('NFD').replace(ACCENTS, ''))
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replace(PUNCTUATION, ' ')
    .trim()
}

const PLAIN = /^[a-z0-9]+( [a-z0-9]+)*$/i
const ASCII = /^[\x20-\x7e]*$/
const ACCENTS = /[\u0300-\u036f\u093c'’‘ʻ]/g
const PUNCTUATION = /[^\p{L}\p{M}\p{N}]+/gu
