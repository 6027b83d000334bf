import { negationWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, type Tokens } from '../text/tokens.ts'
import { WordClasses } from './word-classes.ts'

/** Maximum number of words of the clause that are read before and after a mention. */
const MAX_WORDS_BEFORE = 6
const MAX_WORDS_AFTER = 7
/**
 * Maximum distances are in words. A negation within this distance after the mention needs no requirement word: "welding is not in
 * scope".
 */
const MAX_NEGATION_DISTANCE = 3
/**
 * Distance from the mention to words that mean that others do the work: "welding is outsourced", "welding ka kaam alag thekedar
 * karega" (a separate contractor will do the welding work).
 */
const MAX_DONE_ELSEWHERE_DISTANCE = 4
/** Distance from "alag" (separate) to its verb: "alag thekedar karega" (a separate contractor will do it). */
const MAX_HINDI_VERB_DISTANCE = 4
/** Distance from a negation after "but" to its requirement word: "but not strictly necessary". */
const MAX_REQUIREMENT_DISTANCE = 2
/** Distance from a verb to "by": "looked after by". */
const MAX_BY_DISTANCE = 3
/** Maximum number of words before a mention that are read to find the heading of its list. */
const MAX_LIST_WORDS = 24

/** Kinds of punctuation: after a heading ("Not required:"), and between the items of a list. */
const HEADING_SIGN = 1
const LIST_SIGN = 2
/** By character code: HEADING_SIGN, LIST_SIGN or 0. */
const SIGN_KINDS = new Uint8Array(0x2100)
for (const sign of ':-–—') SIGN_KINDS[sign.charCodeAt(0)] = HEADING_SIGN
for (const sign of ',;/()&+•') SIGN_KINDS[sign.charCodeAt(0)] = LIST_SIGN
const SPACE = 0x20

/** Word classes, one bit for each list of `negation-words.txt`, which explains the lists. */
const NEGATION = 1 << 0
const HINDI_NEGATION = 1 << 1
const ANY_NEGATION = NEGATION | HINDI_NEGATION
const FORWARD_NEGATION = 1 << 2
const CANCELLING_WORD = 1 << 3
const REQUIREMENT_WORD = 1 << 4
const OTHER_REQUIREMENT = 1 << 5
const BUT_WORD = 1 << 6
const OR_WORD = 1 << 7
const RELATIVE_PRONOUN = 1 << 8
const DISMISSAL = 1 << 9
const DONE_ELSEWHERE = 1 << 10
const DONE_BY = 1 << 11
const BY_WORD = 1 << 12
const FORM_OF_TO_BE = 1 << 13
const WITH_WORD = 1 << 14
const ANOTHER_WORD = 1 << 15
const SENT_WORD = 1 << 16
const OUTSIDE_WORD = 1 << 17
const HINDI_OUTSIDE = 1 << 18
const AFTER_HINDI_OUTSIDE = 1 << 19
const HINDI_SEPARATE = 1 << 20
const AFTER_HINDI_SEPARATE = 1 << 21
const FOR_WORD = 1 << 22
const ANOTHER_PERSON = 1 << 23
const CONTRACTOR = 1 << 24

const wordClasses = new WordClasses([
  [NEGATION, negationWords.negations],
  [HINDI_NEGATION, negationWords['hindi negations']],
  [FORWARD_NEGATION, negationWords['forward negations']],
  [CANCELLING_WORD, negationWords['cancelling words']],
  [REQUIREMENT_WORD, negationWords['requirement words']],
  [OTHER_REQUIREMENT, negationWords['other requirements']],
  [BUT_WORD, negationWords.but],
  [OR_WORD, negationWords.or],
  [RELATIVE_PRONOUN, negationWords['relative pronouns']],
  [DISMISSAL, negationWords.dismissals],
  [DONE_ELSEWHERE, negationWords['done elsewhere']],
  [DONE_BY, negationWords['done by']],
  [BY_WORD, negationWords.by],
  [FORM_OF_TO_BE, negationWords['to be']],
  [WITH_WORD, negationWords.with],
  [ANOTHER_WORD, negationWords.another],
  [SENT_WORD, negationWords.sent],
  [OUTSIDE_WORD, negationWords.outside],
  [HINDI_OUTSIDE, negationWords['hindi outside']],
  [AFTER_HINDI_OUTSIDE, negationWords['after hindi outside']],
  [HINDI_SEPARATE, negationWords['hindi separate']],
  [AFTER_HINDI_SEPARATE, negationWords['after hindi separate']],
  [FOR_WORD, negationWords.for],
  [ANOTHER_PERSON, negationWords['another person']],
  [CONTRACTOR, negationWords.contractors],
])

/**
 * Whether the text states that a mentioned skill is not required: "no experience in welding needed", "welding is not required",
 * "welding nahi chahiye", "welding is handled by our vendor". The mention is the words `from` up to `to`. Reads only the clause
 * around it, and the heading of its list.
 */
export function isNegated(text: string, tokens: Tokens, from: number, to: number): boolean {
  return (
    isNegatedBefore(text, tokens, from, to) ||
    isNegatedAfter(text, tokens, to) ||
    isInNegatedList(text, tokens, from) ||
    hasNegatingNote(text, tokens, to)
  )
}

/** Whether the mention is in a list under a negated heading: "Skills not required: welding, plumbing". */
function isInNegatedList(text: string, { hashes, gaps, starts, ends }: Tokens, from: number): boolean {
  for (let at = from; at > 1 && at > from - MAX_LIST_WORDS; at--) {
    if (gaps[at] !== GAP_BREAK) continue
    const signKind = signKindBetween(text, ends[at - 1]!, starts[at]!)
    if (signKind === LIST_SIGN) continue
    if (signKind !== HEADING_SIGN || !isNotRequired(hashes[at - 2]!, hashes[at - 1]!)) return false
    // In "Experience not required: welding", the heading is about the experience.
    for (
      let before = at - 3;
      before >= 0 && before >= at - MAX_WORDS_BEFORE && gaps[before + 1] !== GAP_BREAK;
      before--
    )
      if (hasClass(hashes[before]!, OTHER_REQUIREMENT)) return false
    return true
  }
  return false
}

/**
 * Whether a note that negates the mention follows it: "plumbing: not necessary", "plumbing (not needed)", "plumbing - nahi
 * chahiye".
 */
function hasNegatingNote(text: string, { hashes, gaps, starts, ends, count }: Tokens, to: number): boolean {
  return (
    to + 1 < count &&
    gaps[to] === GAP_BREAK &&
    gaps[to + 1] !== GAP_BREAK &&
    isNotRequired(hashes[to]!, hashes[to + 1]!) &&
    (signKindBetween(text, ends[to - 1]!, starts[to]!) === HEADING_SIGN || text[starts[to]! - 1] === '(')
  )
}

/**
 * Returns the kind of the punctuation from offset `from` to `to`: HEADING_SIGN or LIST_SIGN if all of it has this kind,
 * otherwise 0.
 */
function signKindBetween(text: string, from: number, to: number): number {
  let kind = 0
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    if (unit === SPACE) continue
    const unitKind = unit < SIGN_KINDS.length ? SIGN_KINDS[unit]! : 0
    if (unitKind === 0 || (kind !== 0 && unitKind !== kind)) return 0
    kind = unitKind
  }
  return kind
}

/** Whether the words with these two hashes mean "not required". Includes "nahi chahiye" and "zaroori nahi". */
function isNotRequired(firstHash: number, secondHash: number): boolean {
  return (
    (hasClass(firstHash, ANY_NEGATION) && hasClass(secondHash, REQUIREMENT_WORD)) ||
    (hasClass(secondHash, HINDI_NEGATION) && hasClass(firstHash, REQUIREMENT_WORD))
  )
}

/** Whether the word with this hash has one of the classes in `bits`. */
function hasClass(hash: number, bits: number): boolean {
  return (wordClasses.classesOf(hash) & bits) !== 0
}

/** Whether words before the mention negate it: "no experience in welding", "a separate person for welding". */
function isNegatedBefore(
  text: string,
  { hashes, gaps, starts, ends, count }: Tokens,
  from: number,
  to: number,
): boolean {
  // In "no cooking, washing or ironing" the negation applies to the whole list. An "or" next to the mention shows that it is in
  // such a list, so a comma does not end the search.
  const isInOrList =
    (from > 0 && hasClass(hashes[from - 1]!, OR_WORD)) ||
    (to < count && gaps[to] !== GAP_BREAK && hasClass(hashes[to]!, OR_WORD))
  let hasSeenFor = false
  for (let at = from - 1; at >= 0 && at >= from - MAX_WORDS_BEFORE; at--) {
    if (gaps[at + 1] === GAP_BREAK && !(isInOrList && text.slice(ends[at], starts[at + 1]).trim() === ',')) return false
    const bits = wordClasses.classesOf(hashes[at]!)
    if (bits === 0) continue
    if (bits & BUT_WORD) return false
    // Hindi negations are not checked here, because they negate the word before them: "helper nahi welder chahiye" asks for a
    // welder.
    if (bits & NEGATION) return at + 1 === from || !hasClass(hashes[at + 1]!, CANCELLING_WORD)
    // "There is a separate person for painting."
    if (hasSeenFor && bits & ANOTHER_PERSON) return true
    if (bits & FOR_WORD) hasSeenFor = true
  }
  return false
}

/** Whether words after the mention, in the same clause, negate it: "welding is not required". */
function isNegatedAfter(text: string, tokens: Tokens, to: number): boolean {
  const { hashes } = tokens
  const clauseEnd = endOfClause(text, tokens, to)
  let isNegatedSoFar = false
  for (let at = to; at < clauseEnd; at++) {
    const bits = wordClasses.classesOf(hashes[at]!)
    if (bits === 0) continue
    if (bits & RELATIVE_PRONOUN) return false
    const nextBits = at + 1 < clauseEnd ? wordClasses.classesOf(hashes[at + 1]!) : 0
    // After "but", a negation applies to the skill only with a requirement word: "a plus but not necessary", unlike "but no
    // smoking".
    if (bits & BUT_WORD)
      return (
        (nextBits & ANY_NEGATION) !== 0 &&
        isFollowedBy(hashes, at + 1, Math.min(clauseEnd, at + 2 + MAX_REQUIREMENT_DISTANCE), REQUIREMENT_WORD)
      )
    // The negation is before the requirement word ("not required") or directly after it ("zaroori nahi").
    if (bits & REQUIREMENT_WORD) return isNegatedSoFar || (nextBits & ANY_NEGATION) !== 0
    if (bits & ANY_NEGATION && !(bits & FORWARD_NEGATION) && !(nextBits & CANCELLING_WORD)) {
      // "CNC walon ke liye jagah nahi": a Hindi negation at the end of a clause negates all of it.
      if (at - to < MAX_NEGATION_DISTANCE || (at + 1 === clauseEnd && bits & HINDI_NEGATION)) return true
      isNegatedSoFar = true
    }
    if (bits & DISMISSAL || (at - to < MAX_DONE_ELSEWHERE_DISTANCE && isDoneByOthers(hashes, at, clauseEnd)))
      return true
  }
  return false
}

/** Whether the words from `at` on, shortly after a mention, mean that others do the work: "is by the vendor", "goes outside". */
function isDoneByOthers(hashes: Int32Array, at: number, end: number): boolean {
  const bits = wordClasses.classesOf(hashes[at]!)
  const nextBits = at + 1 < end ? wordClasses.classesOf(hashes[at + 1]!) : 0
  if (bits & DONE_ELSEWHERE) return true
  if (bits & BY_WORD) return (nextBits & CONTRACTOR) !== 0
  if (bits & FORM_OF_TO_BE)
    return (
      (nextBits & BY_WORD) !== 0 ||
      ((nextBits & WITH_WORD) !== 0 && at + 2 < end && hasClass(hashes[at + 2]!, ANOTHER_WORD))
    )
  if (bits & SENT_WORD && nextBits & OUTSIDE_WORD) return true
  if (bits & HINDI_OUTSIDE) return (nextBits & AFTER_HINDI_OUTSIDE) !== 0
  if (bits & DONE_BY) return isFollowedBy(hashes, at, Math.min(end, at + 1 + MAX_BY_DISTANCE), BY_WORD)
  return (
    (bits & HINDI_SEPARATE) !== 0 &&
    isFollowedBy(hashes, at, Math.min(end, at + 1 + MAX_HINDI_VERB_DISTANCE), AFTER_HINDI_SEPARATE)
  )
}

/** Whether a word with one of these classes follows the word at `at`, before the index `end`. */
function isFollowedBy(hashes: Int32Array, at: number, end: number, bits: number): boolean {
  for (let nextWord = at + 1; nextWord < end; nextWord++) if (hasClass(hashes[nextWord]!, bits)) return true
  return false
}

/**
 * Returns the index after the last word of the clause that follows a mention, at most MAX_WORDS_AFTER words away. A bracket
 * does not end the clause: "design software (PVsyst) is not needed". A bracket that begins with a negation of its own content
 * ends it: "electrician (no plumbing)".
 */
function endOfClause(text: string, { starts, ends, gaps, hashes, count }: Tokens, to: number): number {
  let at = to
  while (at < count && at < to + MAX_WORDS_AFTER) {
    if (gaps[at] === GAP_BREAK) {
      if (!hasOnlyBracket(text, ends[at - 1]!, starts[at]!)) break
      const opensBracket = text[starts[at]! - 1] === '('
      if (
        opensBracket &&
        hasClass(hashes[at]!, NEGATION) &&
        !(at + 1 < count && hasClass(hashes[at + 1]!, REQUIREMENT_WORD))
      )
        break
    }
    at++
  }
  return at
}

/** Whether the characters from offset `from` to `to` are brackets and spaces, possibly after the dot of an abbreviation. */
function hasOnlyBracket(text: string, from: number, to: number): boolean {
  let hasBracket = false
  for (let at = from; at < to; at++) {
    const sign = text[at]!
    if (sign === '(' || sign === ')') hasBracket = true
    else if (sign !== ' ' && !(sign === '.' && at === from)) return false
  }
  return hasBracket
}
