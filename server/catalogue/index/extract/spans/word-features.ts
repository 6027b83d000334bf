/**
 * Features of a single word for the span tagger. A feature is a number, which is the row of the weight table. Features are hashed, so
 * the model needs no dictionary, and a word that was not in the training data still has the features of its affixes and its shape.
 */

/**
 * Roles in which a word contributes to the scores of a token: as the token itself, as one of the two words before or after it, or as a
 * word of the same sentence.
 */
export const ROLE_COUNT = 6
export const CURRENT_WORD = 2
export const SENTENCE_WORD = 5

/** Shapes of words. */
const LOWER_CASE_SHAPE = 0
const CAPITALISED_SHAPE = 1
const UPPER_CASE_SHAPE = 2
const SINGLE_CAPITAL_SHAPE = 3
const NUMBER_SHAPE = 4
const MIXED_SHAPE = 5
const OTHER_SCRIPT_SHAPE = 6
export const SHAPE_COUNT = 8

/** Kinds of features. They are mixed into the hash, so that the same letters in two kinds are two features. */
const WORD_KIND = 1
const SHAPE_KIND = 2
const PREFIX_KIND = 3
const SUFFIX_2_KIND = 4
const SUFFIX_3_KIND = 5
const SUFFIX_4_KIND = 6

/** Words up to this number of letters have no affix features, because the word feature has the same information. */
const MAX_SHORT_WORD_LENGTH = 3

/** Classes of characters, for the shape of a word. */
const OTHER_CHARACTER = 0
const LOWER_CASE_LETTER = 1
const CAPITAL_LETTER = 2
const DIGIT = 3

/** By UTF-16 unit below 0x100: its class. */
const CHARACTER_CLASSES = Uint8Array.from({ length: 0x100 }, (_, unit) =>
  isLowerCase(unit) ? LOWER_CASE_LETTER : isUpperCase(unit) ? CAPITAL_LETTER : isDigit(unit) ? DIGIT : OTHER_CHARACTER,
)
/** By the classes of the first, the second and the last character, two bits each, plus SINGLE_CHARACTER: the shape of the word. */
const SINGLE_CHARACTER = 1 << 6
const SHAPES = Uint8Array.from({ length: SINGLE_CHARACTER * 2 }, (_, key) =>
  shapeOfClasses((key >> 4) & 3, (key >> 2) & 3, key & 3, (key & SINGLE_CHARACTER) !== 0),
)

function shapeOfClasses(first: number, second: number, last: number, isSingleCharacter: boolean): number {
  const endsMixed = last === DIGIT || last === CAPITAL_LETTER
  if (first === LOWER_CASE_LETTER) return endsMixed ? MIXED_SHAPE : LOWER_CASE_SHAPE
  if (first === CAPITAL_LETTER) {
    if (isSingleCharacter) return SINGLE_CAPITAL_SHAPE
    if (second === CAPITAL_LETTER) return UPPER_CASE_SHAPE
    return endsMixed ? MIXED_SHAPE : CAPITALISED_SHAPE
  }
  if (first === DIGIT) return last === DIGIT ? NUMBER_SHAPE : MIXED_SHAPE
  return OTHER_SCRIPT_SHAPE
}

/** Returns the shape of the word from `start` up to `end` of the text with these units, from its first, second and last character. */
export function wordShape(units: Uint16Array, start: number, end: number): number {
  return SHAPES[
    (end - start === 1 ? SINGLE_CHARACTER : 0) |
      (characterClass(units[start]!) << 4) |
      (characterClass(units[start + 1]!) << 2) |
      characterClass(units[end - 1]!)
  ]!
}

function characterClass(unit: number): number {
  return unit < CHARACTER_CLASSES.length ? CHARACTER_CLASSES[unit]! : OTHER_CHARACTER
}

/** Returns the feature of the word with this hash in a role. The model has weights only for the words that it knows. */
export function wordFeature(role: number, hash: number): number {
  return mixFeature(WORD_KIND + role * 16, hash)
}

/**
 * Visits the features of the shape and the affixes of a word in its roles. The letters of the word are chars[from] up to, but not
 * including, chars[to].
 */
export function visitAffixFeatures(
  chars: Uint16Array,
  from: number,
  to: number,
  shape: number,
  visit: (role: number, feature: number) => void,
): void {
  for (let role = 1; role < 4; role++) {
    visit(role, mixFeature(SHAPE_KIND + role * 16, shape))
    if (to - from <= MAX_SHORT_WORD_LENGTH) continue
    visit(role, mixFeature(SUFFIX_3_KIND + role * 16, lettersHash(chars, to - 3, to)))
  }
  if (to - from <= MAX_SHORT_WORD_LENGTH) return
  const role = CURRENT_WORD
  visit(role, mixFeature(PREFIX_KIND + role * 16, lettersHash(chars, from, from + 3)))
  visit(role, mixFeature(SUFFIX_2_KIND + role * 16, lettersHash(chars, to - 2, to)))
  visit(role, mixFeature(SUFFIX_4_KIND + role * 16, lettersHash(chars, to - 4, to)))
}

/** Returns the feature of a word and the word after it. */
export function pairFeature(hash: number, nextHash: number): number {
  return mixFeature(hash, Math.imul(nextHash, 0x85ebca6b))
}

/** Mixes a kind and a value into one hash whose high bits are well distributed. */
export function mixFeature(kind: number, value: number): number {
  let hash = Math.imul(value ^ Math.imul(kind, 0x9e3779b1), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function lettersHash(chars: Uint16Array, from: number, to: number): number {
  let hash = 0
  for (let at = from; at < to; at++) hash = Math.imul(hash + chars[at]!, 0x01000193)
  return hash
}

function isLowerCase(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0xdf && unit <= 0xff)
}

function isUpperCase(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0xc0 && unit <= 0xde)
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}
