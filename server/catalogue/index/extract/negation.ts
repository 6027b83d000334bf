import { negationWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, type Tokens } from '../text/tokens.ts'
import { WordClasses } from './word-classes.ts'

/** Words read before and after a mention. */
const MAX_WORDS_BEFORE = 6
const MAX_WORDS_AFTER = 7
/** "welding is not in scope": a negation this close needs no requirement word. */
const MAX_NEGATION_DISTANCE = 3
/** "welding ka kaam alag thekedar karega", "welding is outsourced". */
const MAX_DONE_ELSEWHERE_DISTANCE = 4
const MAX_VERB_DISTANCE = 4
const MAX_BY_DISTANCE = 3
/** Words of a list that are read back to its heading. */
const MAX_LIST_WORDS = 24

const HEADING_SIGN = 1
const LIST_SIGN = 2
const SIGNS = new Uint8Array(0x2100)
for (const sign of ':-–—') SIGNS[sign.charCodeAt(0)] = HEADING_SIGN
for (const sign of ',;/()&+•') SIGNS[sign.charCodeAt(0)] = LIST_SIGN
const SPACE = 0x20

const NEGATION = 1 << 0
const HINDI_NEGATION = 1 << 1
const ANY_NEGATION = NEGATION | HINDI_NEGATION
const FORWARD_NEGATION = 1 << 2
const CANCELLING = 1 << 3
const REQUIREMENT = 1 << 4
const OTHER_REQUIREMENT = 1 << 5
const BUT = 1 << 6
const OR = 1 << 7
const RELATIVE_PRONOUN = 1 << 8
const DISMISSAL = 1 << 9
const DONE_ELSEWHERE = 1 << 10
const DONE_BY = 1 << 11
const BY = 1 << 12
const TO_BE = 1 << 13
const WITH = 1 << 14
const ANOTHER = 1 << 15
const SENT = 1 << 16
const OUTSIDE = 1 << 17
const HINDI_OUTSIDE = 1 << 18
const AFTER_HINDI_OUTSIDE = 1 << 19
const HINDI_SEPARATE = 1 << 20
const AFTER_HINDI_SEPARATE = 1 << 21
const FOR = 1 << 22
const ANOTHER_PERSON = 1 << 23
const CONTRACTOR = 1 << 24

const classes = new WordClasses([
  [NEGATION, negationWords.negations],
  [HINDI_NEGATION, negationWords['hindi negations']],
  [FORWARD_NEGATION, negationWords['forward negations']],
  [CANCELLING, negationWords['cancelling words']],
  [REQUIREMENT, negationWords['requirement words']],
  [OTHER_REQUIREMENT, negationWords['other requirements']],
  [BUT, negationWords.but],
  [OR, negationWords.or],
  [RELATIVE_PRONOUN, negationWords['relative pronouns']],
  [DISMISSAL, negationWords.dismissals],
  [DONE_ELSEWHERE, negationWords['done elsewhere']],
  [DONE_BY, negationWords['done by']],
  [BY, negationWords.by],
  [TO_BE, negationWords['to be']],
  [WITH, negationWords.with],
  [ANOTHER, negationWords.another],
  [SENT, negationWords.sent],
  [OUTSIDE, negationWords.outside],
  [HINDI_OUTSIDE, negationWords['hindi outside']],
  [AFTER_HINDI_OUTSIDE, negationWords['after hindi outside']],
  [HINDI_SEPARATE, negationWords['hindi separate']],
  [AFTER_HINDI_SEPARATE, negationWords['after hindi separate']],
  [FOR, negationWords.for],
  [ANOTHER_PERSON, negationWords['another person']],
  [CONTRACTOR, negationWords.contractors],
])

/**
 * Whether a text says that a skill is not required: "no experience in welding needed", "welding is not required", "welding
 * nahi chahiye", "welding is handled by our vendor". Reads only the clause around the mention, words `from` up to `to`.
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
    const sign = signBetween(text, ends[at - 1]!, starts[at]!)
    if (sign === LIST_SIGN) continue
    if (sign !== HEADING_SIGN || !isNotRequired(hashes[at - 2]!, hashes[at - 1]!)) return false
    for (let word = at - 3; word >= 0 && word >= at - MAX_WORDS_BEFORE && gaps[word + 1] !== GAP_BREAK; word--)
      if (hasClass(hashes[word]!, OTHER_REQUIREMENT)) return false
    return true
  }
  return false
}

/** Whether a note follows the mention: "plumbing: not necessary", "plumbing (not needed)", "plumbing - nahi chahiye". */
function hasNegatingNote(text: string, { hashes, gaps, starts, ends, count }: Tokens, to: number): boolean {
  return (
    to + 1 < count &&
    gaps[to] === GAP_BREAK &&
    gaps[to + 1] !== GAP_BREAK &&
    isNotRequired(hashes[to]!, hashes[to + 1]!) &&
    (signBetween(text, ends[to - 1]!, starts[to]!) === HEADING_SIGN || text[starts[to]! - 1] === '(')
  )
}

/** Returns the kind of the signs between two words: HEADING_SIGN, LIST_SIGN, or 0 for none, others or both. */
function signBetween(text: string, from: number, to: number): number {
  let kind = 0
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    if (unit === SPACE) continue
    const sign = unit < SIGNS.length ? SIGNS[unit]! : 0
    if (sign === 0 || (kind !== 0 && sign !== kind)) return 0
    kind = sign
  }
  return kind
}

/** Whether two words mean "not required": also "nahi chahiye", "zaroori nahi". */
function isNotRequired(first: number, second: number): boolean {
  return (
    (hasClass(first, ANY_NEGATION) && hasClass(second, REQUIREMENT)) ||
    (hasClass(second, HINDI_NEGATION) && hasClass(first, REQUIREMENT))
  )
}

function hasClass(hash: number, bits: number): boolean {
  return (classes.of(hash) & bits) !== 0
}

function isNegatedBefore(
  text: string,
  { hashes, gaps, starts, ends, count }: Tokens,
  from: number,
  to: number,
): boolean {
  // "no cooking, washing or ironing": an "or" next to the mention makes it part of a list, which commas do not end.
  const isListed =
    (from > 0 && hasClass(hashes[from - 1]!, OR)) || (to < count && gaps[to] !== GAP_BREAK && hasClass(hashes[to]!, OR))
  let sawFor = false
  for (let at = from - 1; at >= 0 && at >= from - MAX_WORDS_BEFORE; at--) {
    if (gaps[at + 1] === GAP_BREAK && !(isListed && text.slice(ends[at], starts[at + 1]).trim() === ',')) return false
    const bits = classes.of(hashes[at]!)
    if (bits === 0) continue
    if (bits & BUT) return false
    // Hindi negations follow the verb: "helper nahi welder chahiye" asks for a welder.
    if (bits & NEGATION) return at + 1 === from || !hasClass(hashes[at + 1]!, CANCELLING)
    // "there is a separate person for painting"
    if (sawFor && bits & ANOTHER_PERSON) return true
    if (bits & FOR) sawFor = true
  }
  return false
}

function isNegatedAfter(text: string, tokens: Tokens, to: number): boolean {
  const { hashes } = tokens
  const end = endOfClause(text, tokens, to)
  let negated = false
  for (let at = to; at < end; at++) {
    const bits = classes.of(hashes[at]!)
    if (bits === 0) continue
    if (bits & RELATIVE_PRONOUN) return false
    const next = at + 1 < end ? classes.of(hashes[at + 1]!) : 0
    // "a plus but not necessary" withdraws the requirement, "but no smoking" is about something else.
    if (bits & BUT) return (next & ANY_NEGATION) !== 0 && follows(hashes, at + 1, Math.min(end, at + 4), REQUIREMENT)
    // A Hindi negation may follow: "welding zaroori nahi".
    if (bits & REQUIREMENT) return negated || (next & ANY_NEGATION) !== 0
    if (bits & ANY_NEGATION && !(bits & FORWARD_NEGATION) && !(next & CANCELLING)) {
      // "CNC walon ke liye jagah nahi": a Hindi negation at the end of a clause negates all of it.
      if (at - to < MAX_NEGATION_DISTANCE || (at + 1 === end && bits & HINDI_NEGATION)) return true
      negated = true
    }
    if (bits & DISMISSAL || (at - to < MAX_DONE_ELSEWHERE_DISTANCE && isDoneByOthers(hashes, at, end))) return true
  }
  return false
}

/** Whether the word at `at`, shortly after a mention, says that others do the work. */
function isDoneByOthers(hashes: Int32Array, at: number, end: number): boolean {
  const bits = classes.of(hashes[at]!)
  const next = at + 1 < end ? classes.of(hashes[at + 1]!) : 0
  if (bits & DONE_ELSEWHERE) return true
  if (bits & BY) return (next & CONTRACTOR) !== 0
  if (bits & TO_BE)
    return (next & BY) !== 0 || ((next & WITH) !== 0 && at + 2 < end && hasClass(hashes[at + 2]!, ANOTHER))
  if (bits & SENT && next & OUTSIDE) return true
  if (bits & HINDI_OUTSIDE) return (next & AFTER_HINDI_OUTSIDE) !== 0
  if (bits & DONE_BY) return follows(hashes, at, Math.min(end, at + 1 + MAX_BY_DISTANCE), BY)
  return (
    (bits & HINDI_SEPARATE) !== 0 &&
    follows(hashes, at, Math.min(end, at + 1 + MAX_VERB_DISTANCE), AFTER_HINDI_SEPARATE)
  )
}

/** Whether a word of these classes follows the word at `at`, before `end`. */
function follows(hashes: Int32Array, at: number, end: number, bits: number): boolean {
  for (let other = at + 1; other < end; other++) if (hasClass(hashes[other]!, bits)) return true
  return false
}

/**
 * Returns the end of the clause after a mention, or of the part that is read. A bracket does not end the clause: "design
 * software (PVsyst) is not needed". A bracket that negates its own content does: "electrician (no plumbing)".
 */
function endOfClause(text: string, { starts, ends, gaps, hashes, count }: Tokens, to: number): number {
  let at = to
  while (at < count && at < to + MAX_WORDS_AFTER) {
    if (gaps[at] === GAP_BREAK) {
      if (!isOnlyBracket(text, ends[at - 1]!, starts[at]!)) break
      const opens = text[starts[at]! - 1] === '('
      if (opens && hasClass(hashes[at]!, NEGATION) && !(at + 1 < count && hasClass(hashes[at + 1]!, REQUIREMENT))) break
    }
    at++
  }
  return at
}

function isOnlyBracket(text: string, from: number, to: number): boolean {
  let hasBracket = false
  for (let at = from; at < to; at++) {
    const sign = text[at]!
    if (sign === '(' || sign === ')') hasBracket = true
    else if (sign !== ' ' && !(sign === '.' && at === from)) return false
  }
  return hasBracket
}
