/**
 * Invisible characters and direction overrides, which in a name only serve to deceive. The two joiners are not included, because
 * Indian scripts use them.
 */
const INVISIBLE_PATTERN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0]/gu
const VISIBLE_PATTERN = /[^\p{White_Space}\p{C}\p{M}]/u

/** Removes invisible characters; returns an empty string if no visible ones are left. */
export function stripInvisible(text: string): string {
  const visibleText = text.toWellFormed().replace(INVISIBLE_PATTERN, '')
  return VISIBLE_PATTERN.test(visibleText) ? visibleText : ''
}

/** Strips a text like `stripInvisible` and joins its lines, so that it cannot add a line to a message or a header to an email. */
export function toSingleLine(text: string): string {
  return stripInvisible(text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')).trim()
}
