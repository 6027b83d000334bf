const PHONE_NUMBER = /^\+\d{5,15}$/

/** Quotes a cell. Prefixes text that a spreadsheet would run as a formula with an apostrophe, except phone numbers. */
export function csvCell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value)
  const safeText = !PHONE_NUMBER.test(text) && /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText
}
