/**
 * Names in the form they are compared in: lower case, no accents, one space between words. The vowel signs of Indian
 * scripts are letters in their own right and stay; the nukta goes, since people leave it out.
 */
export function fold(text: string): string {
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
