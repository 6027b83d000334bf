import { fold } from '../../server/places/folding.ts'

/** A name roughly as it sounds, so that Baramula meets Baramulla, and Tirupathur Tirupattur. */
export function sound(name: string): string {
  return fold(name)
    .replaceAll(' ', '')
    .replace(/ee/g, 'i')
    .replace(/oo/g, 'u')
    .replace(/w/g, 'v')
    .replace(/ph/g, 'f')
    .replace(/([bcdgjkpst])h/g, '$1')
    .replace(/ck/g, 'k')
    .replace(/(.)\1+/g, '$1')
}
