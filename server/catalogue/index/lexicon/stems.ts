import { americanSpellings, nonPlurals, nounsInIng, underivedWords, wordsNeverSpeltWithZ } from './lexicon.ts'

/**
 * The English stemmer. It has two levels:
 *
 * - `stemOf` returns the same stem for all inflections of a word (weld, welds, welding, welded) and for its British and American
 *   spellings (organise, organize).
 * - `rootOf` returns the same root for derived words, too (develop, development, developer). It is wrong more often, so a match
 *   by root counts less than a match by stem.
 *
 * Words in other scripts are returned unchanged.
 */

const DOUBLED_CONSONANT = /([bdfgmnprt])\1$/

/** Returns the singular of a word, in American spelling: color for colours. */
export function toSingular(word: string): string {
  if (word.length <= 3 || !isLatin(word)) return word
  return toAmerican(removePlural(word))
}

/** Returns the stem of a word: weld for welding. A stem is a key and not always a word: machin for machines. */
export function stemOf(word: string): string {
  if (word.length <= 3 || !isLatin(word)) return word
  return stemSingular(toAmerican(removePlural(word)))
}

/** Returns the stem of a word that is already singular and in American spelling. */
function stemSingular(singular: string): string {
  if (nounsInIng.has(singular)) return singular
  let stem = singular
  const endingLength = stem.endsWith('ing') ? 3 : stem.endsWith('ed') && !stem.endsWith('eed') ? 2 : 0
  if (endingLength && stem.length - endingLength >= 3 && /[aeiouy]/.test(stem.slice(0, -endingLength))) {
    stem = stem.slice(0, -endingLength)
    if (DOUBLED_CONSONANT.test(stem)) stem = stem.slice(0, -1)
    stem = toAmerican(stem)
  }
  if (stem.length > 3 && stem.endsWith('e')) stem = stem.slice(0, -1)
  if (stem.length > 3 && /[^aeiou]y$/.test(stem)) stem = `${stem.slice(0, -1)}i`
  return stem
}

/** Endings of derived words, with their replacements. The first ending that matches is used. */
const DERIVATIONAL_ENDINGS: [RegExp, string][] = [
  [/isation$|ization$/, 'iz'],
  [/iser$|izer$/, 'iz'],
  [/ational$/, 'at'],
  [/ation$|ator$|ative$|ativ$|atori$/, 'at'],
  [/ition$|itor$|itive$|itiv$/, 'it'],
  [/ction$|ctor$|ctive$|ctiv$/, 'ct'],
  [/sion$/, 's'],
  [/tion$/, 't'],
  [/iveness$|ive$/, 'iv'],
  [/ibiliti$|abiliti$/, 'abl'],
  [/ement$|ment$/, ''],
  [/iness$|ness$/, ''],
  [/icalli$|ical$|ics$|ic$/, 'ic'],
  [/aliti$|alli$|al$/, ''],
  [/ance$|ence$|anc$|enc$|anci$|enci$|ant$|ent$/, ''],
  [/er$|or$/, ''],
  [/iti$/, ''],
  [/li$/, ''],
  [/i$/, ''],
]

/** The endings by the character code of their last letter, so that `rootOf` tries only a few of them. */
const ENDINGS_BY_LAST_LETTER = new Map<number, [RegExp, string][]>()
for (const ending of DERIVATIONAL_ENDINGS) {
  for (const letter of new Set(
    Array.from(ending[0].source.matchAll(/(.)\$/g), (lastLetter) => lastLetter[1]!.charCodeAt(0)),
  ))
    ENDINGS_BY_LAST_LETTER.set(letter, [...(ENDINGS_BY_LAST_LETTER.get(letter) ?? []), ending])
}
const NO_ENDINGS: [RegExp, string][] = []

/** Returns the root of a stem: develop for development. */
export function rootOf(stem: string): string {
  if (stem.length <= 4 || !isLatin(stem) || underivedWords.has(stem)) return stem
  if (nounsInIng.has(stem)) return rootOf(stem.slice(0, -3))
  let root = stem
  for (const [ending, replacement] of ENDINGS_BY_LAST_LETTER.get(stem.charCodeAt(stem.length - 1)) ?? NO_ENDINGS) {
    const endingMatch = ending.exec(stem)
    if (!endingMatch) continue
    if (endingMatch.index >= 3) root = stem.slice(0, endingMatch.index) + replacement
    break
  }
  if (root.length > 4 && root.endsWith('at')) root = root.slice(0, -2)
  return /(.)\1$/.test(root) ? root.slice(0, -1) : root
}

function removePlural(word: string): string {
  if (!word.endsWith('s') || nonPlurals.has(word)) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(x|ss|sh|ch|zz)es$/.test(word)) return word.slice(0, -2)
  if (/(ss|us|is|ics)$/.test(word)) return word
  return word.slice(0, -1)
}

const NEVER_SPELT_WITH_Z = new RegExp(wordsNeverSpeltWithZ.join('|'))

/** Returns the American spelling of a word: organize for organise, color for colour, center for centre. */
function toAmerican(word: string): string {
  if (word.length < 5) return word
  const americanWord = americanSpellings.get(word)
  if (americanWord) return americanWord
  if (!LAST_LETTERS_WITH_VARIANTS.has(word.charCodeAt(word.length - 1))) return simplifyVowels(word)
  if (word.length > 6 && /[iy]s(e|ed|er|ing|ation)?$/.test(word) && !NEVER_SPELT_WITH_Z.test(word))
    return word.replace(/([iy])s(e|ed|er|ing|ation)?$/, '$1z$2')
  if (word.endsWith('our') && word.length > 5) return `${word.slice(0, -3)}or`
  if (word.endsWith('tre') || word.endsWith('bre')) return `${word.slice(0, -2)}er`
  if (/[aeiou]ll(ing|ed|er)$/.test(word) && word.length > 7) return word.replace(/ll(ing|ed|er)$/, 'l$1')
  if (word.endsWith('ogue') || word.endsWith('amme')) return word.slice(0, -2)
  return simplifyVowels(word)
}

/** Character codes of the last letters of the endings that `toAmerican` replaces. Other words are returned early. */
const LAST_LETTERS_WITH_VARIANTS = new Set(Array.from('sedrgn', (letter) => letter.charCodeAt(0)))

/** Replaces ae by e in the words that differ between British and American spelling: pediatric for paediatric. */
function simplifyVowels(word: string): string {
  if (!word.includes('ae')) return word
  return word.replace(/(paed|aesth|haem|gynaec)/, (part) => part.replace('ae', 'e'))
}

/** Returns the singular and plural of a word, each in American and British spelling. */
export function spellingVariants(word: string): string[] {
  if (word.length <= 2 || !/^[a-z]+$/.test(word)) return []
  const singular = toSingular(word)
  return addBritishSpellings([singular, pluralOf(singular)])
}

/** Returns the singular, plural and -ing form of a word (repair, repairs, repairing), each in American and British spelling. */
export function inflections(word: string): string[] {
  if (word.length <= 3) return spellingVariants(word)
  if (!/^[a-z]+$/.test(word)) return []
  const singular = toSingular(word)
  const stem = stemSingular(singular)
  const verb = stem.endsWith('i') ? `${stem.slice(0, -1)}y` : stem
  const forms = [singular, pluralOf(singular), `${verb}ing`]
  if (/[^aeiou][aeiou][bdgmnprt]$/.test(verb)) forms.push(`${verb}${verb.at(-1)}ing`)
  if (word.endsWith('ing')) forms.push(verb, `${verb}e`)
  return addBritishSpellings(forms)
}

/** Matches words that may have an American ending. One test of this pattern is faster than trying every ending. */
const AMERICAN_ENDING = new RegExp(
  `(${['iz(e|ing|ed|er|ation)|yz(e|ing|ed|er)|or|[tb]er|og|am|el(ing|ed|er)', ...americanSpellings.values()].join(
    '|',
  )})$`,
)

/** Adds the British spelling of each American word to `forms`, with its plural. Returns `forms`. */
function addBritishSpellings(forms: string[]): string[] {
  for (let i = forms.length - 1; i >= 0; i--) {
    const form = forms[i]!
    if (form.endsWith('s') || !AMERICAN_ENDING.test(form)) continue
    for (const [americanEnding, britishEnding] of BRITISH_ENDINGS) {
      if (!form.endsWith(americanEnding)) continue
      const britishForm = form.slice(0, -americanEnding.length) + britishEnding
      if (toSingular(britishForm) === toSingular(form)) forms.push(britishForm, pluralOf(britishForm))
    }
  }
  return forms
}

/** Pairs of an American and a British ending. */
const BRITISH_ENDINGS: [string, string][] = [
  ['ize', 'ise'],
  ['izing', 'ising'],
  ['ized', 'ised'],
  ['izer', 'iser'],
  ['ization', 'isation'],
  ['yze', 'yse'],
  ['yzing', 'ysing'],
  ['yzed', 'ysed'],
  ['yzer', 'yser'],
  ['or', 'our'],
  ['ter', 'tre'],
  ['ber', 'bre'],
  ['og', 'ogue'],
  ['am', 'amme'],
  ['eling', 'elling'],
  ['eled', 'elled'],
  ['eler', 'eller'],
  ...Array.from(americanSpellings, ([british, american]): [string, string] => [american, british]),
]

function pluralOf(word: string): string {
  if (word.endsWith('y')) return /[aeiou]y$/.test(word) ? `${word}s` : `${word.slice(0, -1)}ies`
  return /[xszh]$/.test(word) && /(x|s|sh|ch|z)$/.test(word) ? `${word}es` : `${word}s`
}

function isLatin(word: string): boolean {
  for (let i = 0; i < word.length; i++) if (word.charCodeAt(i) > 0x7a) return false
  return true
}
