/**
 * Two ways to see through a word's endings. `stemOf` joins the forms of one word (machine, machines; weld, welding,
 * welded) and the two English spellings. `rootOf` goes further and joins what is derived (develop, development,
 * developer), at the price of some wrong company; callers trust it less.
 */

const DOUBLED = /([bdfgmnprt])\1$/

/** The word's singular in one spelling: what a mention in a text may differ in. */
export function singularOf(word: string): string {
  if (word.length <= 3 || !isLatin(word)) return word
  return american(withoutPlural(word))
}

export function stemOf(word: string): string {
  if (word.length <= 3 || !isLatin(word)) return word
  return stemOfSingular(american(withoutPlural(word)))
}

/** Things, not what is done: a building is not building something. */
const OWN_WORDS = new Set(
  'building meeting engineering marketing accounting ceiling bearing clothing housing'.split(' '),
)

function stemOfSingular(singular: string): string {
  if (OWN_WORDS.has(singular)) return singular
  let stem = singular
  const cut = stem.endsWith('ing') ? 3 : stem.endsWith('ed') && !stem.endsWith('eed') ? 2 : 0
  if (cut && stem.length - cut >= 3 && /[aeiouy]/.test(stem.slice(0, -cut))) {
    stem = stem.slice(0, -cut)
    if (DOUBLED.test(stem)) stem = stem.slice(0, -1)
    stem = american(stem)
  }
  if (stem.length > 3 && stem.endsWith('e')) stem = stem.slice(0, -1)
  if (stem.length > 3 && /[^aeiou]y$/.test(stem)) stem = `${stem.slice(0, -1)}i`
  return stem
}

const ENDINGS: [RegExp, string][] = [
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

/** The endings by their last letter, which rules most of them out. */
const ENDINGS_BY_LETTER = new Map<number, [RegExp, string][]>()
for (const ending of ENDINGS) {
  for (const letter of new Set(Array.from(ending[0].source.matchAll(/(.)\$/g), (found) => found[1]!.charCodeAt(0))))
    ENDINGS_BY_LETTER.set(letter, [...(ENDINGS_BY_LETTER.get(letter) ?? []), ending])
}
const NO_ENDINGS: [RegExp, string][] = []

/** Words that have left what they were made of: fitness is no fitting, a witness no wit. */
const OWN_ROOTS = new Set('fitness witness harness business'.split(' '))

/** The root of a stem. */
export function rootOf(stem: string): string {
  if (stem.length <= 4 || !isLatin(stem) || OWN_ROOTS.has(stem)) return stem
  if (OWN_WORDS.has(stem)) return rootOf(stem.slice(0, -3))
  let root = stem
  for (const [ending, put] of ENDINGS_BY_LETTER.get(stem.charCodeAt(stem.length - 1)) ?? NO_ENDINGS) {
    const found = ending.exec(stem)
    if (!found) continue
    if (found.index >= 3) root = stem.slice(0, found.index) + put
    break
  }
  if (root.length > 4 && root.endsWith('at')) root = root.slice(0, -2)
  return /(.)\1$/.test(root) ? root.slice(0, -1) : root
}

// Words whose s is their own, or whose singular is another word.
const NO_PLURAL = new Set(
  'news goods sales customs species series lens gas gps sms ios aws sas saas paas iaas hris ims windows jenkins kubernetes'.split(
    ' ',
  ),
)

function withoutPlural(word: string): string {
  if (!word.endsWith('s') || NO_PLURAL.has(word)) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(x|ss|sh|ch|zz)es$/.test(word)) return word.slice(0, -2)
  if (/(ss|us|is|ics)$/.test(word)) return word
  return word.slice(0, -1)
}

// Words in -ise that no one spells with a z.
const ONLY_ISE = /(wise|prise|vis|cis|mise|rise|noise|raise|analysis|basis|practis|premis|promis|exercis)/

/** One spelling for British and American: organise and organize, colour and color, centre and center. */
export function american(word: string): string {
  if (word.length < 5) return word
  const other = AMERICAN_WORDS.get(word)
  if (other) return other
  if (!CHANGES.has(word.charCodeAt(word.length - 1))) return plainVowels(word)
  if (word.length > 6 && /[iy]s(e|ed|er|ing|ation)?$/.test(word) && !ONLY_ISE.test(word))
    return word.replace(/([iy])s(e|ed|er|ing|ation)?$/, '$1z$2')
  if (word.endsWith('our') && word.length > 5) return `${word.slice(0, -3)}or`
  if (word.endsWith('tre') || word.endsWith('bre')) return `${word.slice(0, -2)}er`
  if (/[aeiou]ll(ing|ed|er)$/.test(word) && word.length > 7) return word.replace(/ll(ing|ed|er)$/, 'l$1')
  if (word.endsWith('ogue') || word.endsWith('amme')) return word.slice(0, -2)
  if (word === 'licence' || word === 'defence' || word === 'offence') return `${word.slice(0, -2)}se`
  return plainVowels(word)
}

/** Words that no ending tells. */
const AMERICAN_WORDS = new Map([
  ['aluminium', 'aluminum'],
  ['jewellery', 'jewelry'],
  ['mould', 'mold'],
  ['moulding', 'molding'],
  ['plough', 'plow'],
  ['sulphur', 'sulfur'],
  ['draught', 'draft'],
  ['draughtsman', 'draftsman'],
])

/** Last letters of words that the two spellings part. */
const CHANGES = new Set(Array.from('sedrgn', (letter) => letter.charCodeAt(0)))

function plainVowels(word: string): string {
  if (!word.includes('ae')) return word
  return word.replace(/(paed|aesth|haem|gynaec)/, (part) => part.replace('ae', 'e'))
}

/** A word's singular and plural, each in both spellings. */
export function spellingsOf(word: string): string[] {
  if (word.length <= 2 || !/^[a-z]+$/.test(word)) return []
  const singular = singularOf(word)
  return inBothSpellings([singular, pluralOf(singular)])
}

/** Forms that share a word's stem: its plural and what is done with it (repair, repairing), each in both spellings. */
export function formsOf(word: string): string[] {
  if (word.length <= 3) return spellingsOf(word)
  if (!/^[a-z]+$/.test(word)) return []
  const singular = singularOf(word)
  const stem = stemOfSingular(singular)
  const verb = stem.endsWith('i') ? `${stem.slice(0, -1)}y` : stem
  const forms = [singular, pluralOf(singular), `${verb}ing`]
  if (/[^aeiou][aeiou][bdgmnprt]$/.test(verb)) forms.push(`${verb}${verb.at(-1)}ing`)
  if (word.endsWith('ing')) forms.push(verb, `${verb}e`)
  return inBothSpellings(forms)
}

const AMERICAN =
  /(iz(e|ing|ed|er|ation)|yz(e|ing|ed|er)|or|[tb]er|og|am|el(ing|ed|er)|[cf]ense|inum|elry|mold|molding|plow|sulfur|draft|draftsman)$/

function inBothSpellings(forms: string[]): string[] {
  for (let i = forms.length - 1; i >= 0; i--) {
    const form = forms[i]!
    if (form.endsWith('s') || !AMERICAN.test(form)) continue
    for (const [ending, british] of BRITISH) {
      if (!form.endsWith(ending)) continue
      const other = form.slice(0, -ending.length) + british
      if (singularOf(other) === singularOf(form)) forms.push(other, pluralOf(other))
    }
  }
  return forms
}

const BRITISH: [string, string][] = [
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
  ['cense', 'cence'],
  ['fense', 'fence'],
  ...Array.from(AMERICAN_WORDS, ([british, other]): [string, string] => [other, british]),
]

function pluralOf(word: string): string {
  if (word.endsWith('y')) return /[aeiou]y$/.test(word) ? `${word}s` : `${word.slice(0, -1)}ies`
  return /[xszh]$/.test(word) && /(x|s|sh|ch|z)$/.test(word) ? `${word}es` : `${word}s`
}

function isLatin(word: string): boolean {
  for (let i = 0; i < word.length; i++) if (word.charCodeAt(i) > 0x7a) return false
  return true
}
