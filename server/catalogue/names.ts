/** Normalises a text for storage: composed characters, single spaces, no leading or trailing spaces. */
export function normaliseText(text: string): string {
  return text.normalize('NFC').replace(/\s+/gu, ' ').trim()
}

/** Returns the key that all spellings of a name share, ignoring case and white space. */
export function nameKey(name: string): string {
  return foldCase(name.normalize('NFC').replace(/\s+/gu, ''))
}

/**
 * Normalises the aliases and removes empty ones, duplicates and the name itself. Spacing is significant, because users may
 * search for "java script".
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

/** Converts to upper case first, because some letters have two lower-case forms (ß and ss, ς and σ). */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase()
}
