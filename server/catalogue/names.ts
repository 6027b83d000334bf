/** Matches most normalised texts, so that they are not normalised again. */
const NORMAL_ASCII = /^(?! )(?:(?! {2})[\x20-\x7e])*(?<! )$/

/** Normalises a text for storage: Unicode form NFC, single spaces, no leading or trailing spaces. */
export function normaliseText(text: string): string {
  return NORMAL_ASCII.test(text) ? text : text.normalize('NFC').replace(/\s+/gu, ' ').trim()
}

/** Returns a key for comparing names. It ignores case and white space: "Java Script" and "javascript" have the same key. */
export function nameKey(name: string): string {
  return foldCase(name.normalize('NFC').replace(/\s+/gu, ''))
}

/**
 * Normalises the aliases, and removes empty ones, duplicates and the name itself. Aliases that differ only in spaces are not
 * duplicates, because users may search for "java script".
 */
export function distinctAliases(name: string, aliases: Iterable<string>): string[] {
  const seenKeys = new Set(['', foldCase(normaliseText(name))])
  const distinct: string[] = []
  for (const text of aliases) {
    const alias = normaliseText(text)
    const folded = foldCase(alias)
    if (seenKeys.has(folded)) continue
    seenKeys.add(folded)
    distinct.push(alias)
  }
  return distinct
}

/** Returns whether two labels are the same alias: they differ at most in case and in the number of spaces. */
export function sameLabel(a: string, b: string): boolean {
  return foldCase(normaliseText(a)) === foldCase(normaliseText(b))
}

export const MAX_NAME_LENGTH = 200
/** ESCO skills have at most 78 aliases. Thousands of aliases are a mistake in the file, and would slow down every search. */
export const MAX_ALIASES = 200

/** Returns why a text cannot be the name of a skill; undefined if it can. */
export function findNameError(name: string): string | undefined {
  if (!nameKey(name)) return 'the name is missing'
  if (!/[\p{L}\p{N}]/u.test(name)) return 'the name contains no letters or digits'
  if ([...name].length > MAX_NAME_LENGTH) return `the name is longer than ${MAX_NAME_LENGTH} characters`
  return undefined
}

/** Removes case. Converts to upper case first, because some capitals have two lower-case forms: SS is ss or ß, Σ is σ or ς. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase()
}
