/**
 * What cannot be seen, and what turns the direction of the words around it: in a name it only serves to pretend. The two joiners
 * stay, since Indian scripts are written with them.
 */
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0]/gu
const SOMETHING = /[^\p{White_Space}\p{C}\p{M}]/u

/** What a user wrote, without what would deceive a reader; empty where there is nothing to be seen. */
export function visible(text: string): string {
  const seen = text.toWellFormed().replace(UNSEEN, '')
  return SOMETHING.test(seen) ? seen : ''
}

/** The same on one line: nothing in it can pass for another line, or for another header of a mail. */
export function oneLine(text: string): string {
  return visible(text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')).trim()
}
