import { foldName } from '../../server/places/folding.ts'

/** Returns a rough phonetic form, equal for spellings such as Baramula and Baramulla, or Tirupathur and Tirupattur. */
export function phoneticKey(name: string): string {
  return foldName(name)
    .replaceAll(' ', '')
    .replace(/ee/g, 'i')
    .replace(/oo/g, 'u')
    .replace(/w/g, 'v')
    .replace(/ph/g, 'f')
    .replace(/([bcdgjkpst])h/g, '$1')
    .replace(/ck/g, 'k')
    .replace(/(.)\1+/g, '$1')
}
