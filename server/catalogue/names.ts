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

/** Removes case. Converts to upper case first, because some capitals have two lower-case forms: SS is ss or ß, Σ is σ or ς. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase()
}
