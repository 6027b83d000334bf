/** Names as they are kept: composed characters, single spaces, none at the ends. */
export function tidy(text: string): string {
  return text.normalize('NFC').replace(/\s+/gu, ' ').trim()
}

/** What two spellings of one name share: neither case nor white space counts. */
export function nameKey(name: string): string {
  return foldCase(name.normalize('NFC').replace(/\s+/gu, ''))
}

/**
 * The aliases in their order, tidied; without empty ones, repetitions, and the name itself. Spacing counts here: somebody may
 * look for "java script".
 */
export function distinctAliases(name: string, aliases: Iterable<string>): string[] {
  const seen = new Set(['', foldCase(tidy(name))])
  const kept: string[] = []
  for (const given of aliases) {
    const alias = tidy(given)
    const folded = foldCase(alias)
    if (seen.has(folded)) continue
    seen.add(folded)
    kept.push(alias)
  }
  return kept
}

/** Through upper case first, because some letters have two lower-case forms (ß and ss, ς and σ). */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase()
}
