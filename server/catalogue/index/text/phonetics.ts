/**
 * Phonetic keys (as in Soundex) for Hindi, in Devanagari and in Latin letters. All spellings of a word have the same key: bijli,
 * bijlee, bijali and बिजली; darzi and darji; mistri and mistry; silai and silaai.
 *
 * Devanagari is first transliterated letter by letter. Then the key leaves out the differences between spellings of romanised
 * Hindi: vowel length, e or i at the beginning, aspiration, the inherent a, v and w, z and j, ph and f, sh and s.
 */

/** Latin letters for Devanagari letters, as far as the phonetic key needs them. */
const CONSONANTS = new Map<string, string>()
const VOWELS = new Map<string, string>()
const VOWEL_SIGNS = new Map<string, string>()

for (const pair of 'क k ख k ग g घ g ङ n च c छ c ज j झ j ञ n ट t ठ t ड d ढ d ण n त t थ t द d ध d न n प p फ f ब b भ b म m य y र r ल l ळ l व v श s ष s स s ह h'.matchAll(
  /(\S) (\S)/g,
))
  CONSONANTS.set(pair[1]!, pair[2]!)
for (const pair of 'अ a आ a इ i ई i उ u ऊ u ऋ ri ए e ऐ ai ऍ e ओ o औ au ऑ o'.matchAll(/(\S) (\S+)/g))
  VOWELS.set(pair[1]!, pair[2]!)
for (const pair of 'ा a ि i ी i ु u ू u ृ ri े e ै ai ॅ e ो o ौ au ॉ o'.matchAll(/(\S) (\S+)/g))
  VOWEL_SIGNS.set(pair[1]!, pair[2]!)

/** The sign that removes the inherent a of a consonant. */
const VIRAMA = '्'
/** The sign for a nasal sound. */
const ANUSVARA = 'ं'

export function isDevanagari(word: string): boolean {
  const firstUnit = word.charCodeAt(0)
  return firstUnit >= 0x900 && firstUnit < 0x980
}

/** Transliterates a Devanagari word as far as its phonetic key needs it. Returns other words unchanged. */
function toLatin(word: string): string {
  if (!isDevanagari(word)) return word
  let latin = ''
  for (let i = 0; i < word.length; i++) {
    const letter = word[i]!
    const consonant = CONSONANTS.get(letter)
    if (consonant) latin += consonant
    else if (letter === ANUSVARA) latin += 'n'
    else if (letter !== VIRAMA) latin += VOWELS.get(letter) ?? VOWEL_SIGNS.get(letter) ?? ''
  }
  return latin
}

const LETTER_A = 0x61
const LETTER_E = 0x65
const LETTER_H = 0x68
const LETTER_I = 0x69
const LETTER_O = 0x6f
const LETTER_U = 0x75
const LETTER_Y = 0x79
const isVowel = (unit: number) =>
  unit === LETTER_A || unit === LETTER_E || unit === LETTER_I || unit === LETTER_O || unit === LETTER_U

/**
 * Returns the phonetic key of a folded word. Returns an empty string if the key has fewer than three letters: it would match too
 * many words.
 */
export function phoneticKey(word: string): string {
  const latinText = toLatin(word)
  let key = ''
  let lastUnit = 0
  for (let i = 0; i < latinText.length; i++) {
    let unit = latinText.charCodeAt(i)
    const nextUnit = latinText.charCodeAt(i + 1)
    switch (unit) {
      case 0x70: // ph becomes f
        if (nextUnit === LETTER_H) unit = 0x66
        break
      case 0x77: // w becomes v
        unit = 0x76
        break
      case 0x7a: // z becomes j
        unit = 0x6a
        break
      case 0x71: // q becomes k
        unit = 0x6b
        break
      case 0x63: // In a word in Latin letters, c becomes s before e, i and y, otherwise k. It remains in ch and is left out in ck.
        if (nextUnit === 0x6b) continue
        if (nextUnit !== LETTER_H && word === latinText)
          unit = nextUnit === LETTER_E || nextUnit === LETTER_I || nextUnit === LETTER_Y ? 0x73 : 0x6b
        break
      case 0x6d: // m before p or b becomes n
        if (nextUnit === 0x70 || nextUnit === 0x62) unit = 0x6e
        break
      case LETTER_Y: // y is left out after i, between vowels, and at the end after a vowel; after a consonant it becomes i
        if (lastUnit === LETTER_I || (i > 0 && isVowel(lastUnit) && (isVowel(nextUnit) || Number.isNaN(nextUnit))))
          continue
        if (i > 0 && !isVowel(lastUnit)) unit = LETTER_I
        break
      case LETTER_A: // ai and ay become e, aa becomes a, and a inside the word is left out
        if (nextUnit === LETTER_I || nextUnit === LETTER_Y) {
          unit = LETTER_E
          i += latinText.charCodeAt(i + 2) === LETTER_I ? 2 : 1
        } else if (nextUnit === LETTER_A) continue
        else if (key !== '' && i + 1 < latinText.length) {
          lastUnit = LETTER_A
          continue
        }
        break
      case LETTER_E: // ee, ea and e at the beginning become i, and -er at the end becomes r
        if (nextUnit === LETTER_E || nextUnit === LETTER_A) {
          unit = LETTER_I
          i++
        } else if (nextUnit === 0x72 && i + 2 === latinText.length && key !== '') continue
        else if (key === '') unit = LETTER_I
        break
      case LETTER_O: // oo becomes u
        if (nextUnit === LETTER_O) {
          unit = LETTER_U
          i++
        }
        break
      case LETTER_H: // aspiration: h after a consonant is left out
        if (i > 0 && !isVowel(lastUnit) && lastUnit !== 0) continue
        break
    }
    if (unit === lastUnit) continue
    key += String.fromCharCode(unit)
    lastUnit = unit
  }
  return key.length < 3 ? '' : key
}

/** Minimum number of consonants of a `consonantKey`: shorter keys match too many words. */
const MIN_KEY_CONSONANTS = 4

/** English spellings and the consonants that Devanagari has for their sounds. The first spelling that fits is used. */
const ENGLISH_SOUNDS = groupByFirstLetter([
  ['machin', 'msn'],
  ['echa', 'k'],
  ['echn', 'kn'],
  ['tion', 'sn'],
  ['sion', 'sn'],
  ['cian', 'sn'],
  ['ture', 'cr'],
  ['tch', 'c'],
  ['dge', 'g'],
  ['ch', 'c'],
  ['ck', 'k'],
  ['ce', 's'],
  ['ci', 's'],
  ['cy', 's'],
  ['ph', 'f'],
  ['mp', 'np'],
  ['mb', 'nb'],
  ['c', 'k'],
  ['qu', 'kv'],
  ['q', 'k'],
  ['x', 'ks'],
])
/** Sounds of transliterated Devanagari that English spells with one letter: x in एग्जीक्यूटिव. */
const DEVANAGARI_SOUNDS = groupByFirstLetter([
  ['gj', 'ks'],
  ['kj', 'ks'],
  ['mp', 'np'],
  ['mb', 'nb'],
])

type Sounds = ReadonlyMap<number, readonly (readonly [string, string])[]>

function groupByFirstLetter(sounds: readonly (readonly [string, string])[]): Sounds {
  return new Map(
    sounds.map(([spelling]) => [
      spelling.charCodeAt(0),
      sounds.filter(([other]) => other.charCodeAt(0) === spelling.charCodeAt(0)),
    ]),
  )
}

/**
 * Returns the consonants of a word as they sound in English, which Devanagari and English spellings of an English word have in common:
 * plumbing and प्लंबिंग, computer and कंप्यूटर. An initial vowel is one letter. Returns an empty string if the word has fewer than four
 * consonants.
 */
export function consonantKey(word: string): string {
  const letters = toLatin(word)
  const sounds = letters === word ? ENGLISH_SOUNDS : DEVANAGARI_SOUNDS
  let key = ''
  let consonantCount = 0
  let lastUnit = 0
  const add = (unit: number) => {
    if (isVowel(unit)) {
      if (key === '') key = 'A'
    } else if (unit !== lastUnit && ((unit !== LETTER_Y && unit !== LETTER_H) || key === '')) {
      // w sounds like v, and j and z like g.
      key += unit === 0x77 ? 'v' : unit === 0x6a || unit === 0x7a ? 'g' : String.fromCharCode(unit)
      consonantCount++
    }
    lastUnit = unit
  }
  for (let at = 0; at < letters.length; ) {
    const unit = letters.charCodeAt(at)
    if (unit < LETTER_A || unit > 0x7a) return ''
    const sound = sounds.get(unit)?.find(([spelling]) => letters.startsWith(spelling, at))
    if (sound) for (let i = 0; i < sound[1].length; i++) add(sound[1].charCodeAt(i))
    else add(unit)
    at += sound ? sound[0].length : 1
  }
  return consonantCount < MIN_KEY_CONSONANTS ? '' : key
}

/** Pairs of spellings of the same sound in romanised Hindi. */
const INTERCHANGEABLE_SPELLINGS: [string, string][] = [
  ['ee', 'i'],
  ['oo', 'u'],
  ['aa', 'a'],
  ['w', 'v'],
  ['z', 'j'],
  ['ph', 'f'],
]

/** Returns other Latin spellings of a Hindi word, each changed at one position: bijlee, beejli and bijly for bijli. */
export function romanisationVariants(word: string): string[] {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return []
  const spellings = new Set<string>()
  for (const [long, short] of INTERCHANGEABLE_SPELLINGS) {
    for (const [from, to] of [
      [long, short],
      [short, long],
    ] as const) {
      for (let at = word.indexOf(from); at >= 0; at = word.indexOf(from, at + 1)) {
        // A single a is not replaced inside aa, the spelling of the long vowel.
        if (from.length === 1 && (word[at - 1] === from || word[at + 1] === from)) continue
        spellings.add(word.slice(0, at) + to + word.slice(at + from.length))
      }
    }
  }
  if (/(i|ee)$/.test(word)) spellings.add(word.replace(/(i|ee)$/, 'y'))
  if (word.endsWith('y')) spellings.add(`${word.slice(0, -1)}i`).add(`${word.slice(0, -1)}ee`)
  return [...spellings]
}
