import { APART, type Tokens } from '../text/tokens.ts'
import { WordKinds } from './word-kinds.ts'

const BEFORE = 6
const BEHIND = 7
/** "welding is not in scope": a no so near denies it without another word. */
const NO_NEAR = 3
/** "welding ka kaam alag thekedar karega", "welding is outsourced". */
const OTHERS_NEAR = 4
const VERB_NEAR = 4

/** How far behind its heading a list is read. */
const LONGEST_LIST = 24
const HEADING = 1
const LISTING = 2
const SIGNS = new Uint8Array(0x2100)
for (const sign of ':-–—') SIGNS[sign.charCodeAt(0)] = HEADING
for (const sign of ',;/()&+•') SIGNS[sign.charCodeAt(0)] = LISTING
const SPACE = 0x20

const ENGLISH_NO = 1 << 0
const HINDI_NO = 1 << 1
const NO = ENGLISH_NO | HINDI_NO
/** These say no to what stands behind them only. */
const NO_TO_WHAT_FOLLOWS = 1 << 2
/** "not only welding", "including but not limited to welding", "no less than two years of welding". */
const NOT_A_NO = 1 << 3
const NEEDED = 1 << 4
/** "Experience not required: welders, fitters" asks for a welder. */
const NOT_THE_SKILL = 1 << 5
const BUT = 1 << 6
const OR = 1 << 7
/** Another clause begins, with a no of its own: "a welder who does not smoke". */
const WHO = 1 << 8
/** "Embroidery people please excuse." */
const EXCUSED = 1 << 9
/** Somebody else does it, or nobody. */
const OTHERS = 1 << 10
/** "is handled by", "is looked after by". */
const DONE = 1 << 11
const BY = 1 << 12
const BY_NEAR = 3
/** "painting is with another gang". */
const BE = 1 << 13
const WITH = 1 << 14
const ANOTHER = 1 << 15
/** "dry clean goes outside", "painting bahar se hoti hai". */
const GONE = 1 << 16
const OUTSIDE = 1 << 17
const BAHAR = 1 << 18
const FROM = 1 << 19
const SEPARATE = 1 << 20
const IS = 1 << 21
/** "there is a separate person for painting". */
const FOR = 1 << 22
const SOMEBODY_ELSE = 1 << 23
/** "loading by contractor". */
const HIRED = 1 << 24

const kinds = new WordKinds([
  [
    ENGLISH_NO,
    'no not without never nor neither except excluding dont doesnt isnt arent wont cannot cant neednt bina बिना',
  ],
  [HINDI_NO, 'nahi nahin nhi mat नहीं मत'],
  [NO_TO_WHAT_FOLLOWS, 'without never nor neither except excluding bina बिना'],
  [NOT_A_NO, 'only just limited less fewer later matter doubt'],
  [
    NEEDED,
    `required reqd needed necessary mandatory essential must compulsory expected requirement need chahiye zaruri zaroori jaruri jaroori
    zarurat zaroorat jarurat jaroorat चाहिए जरूरी जरूरत आवश्यक आवश्यकता अनिवार्य`,
  ],
  [
    NOT_THE_SKILL,
    'experience exp fresher freshers education qualification qualifications degree english fee fees deposit anubhav अनुभव',
  ],
  [BUT, 'but lekin magar लेकिन मगर'],
  [OR, 'or nor ya या'],
  [WHO, 'who which that jo जो'],
  [EXCUSED, 'excuse ignore'],
  [OTHERS, 'outsourced subcontracted already closed separate elsewhere excluded'],
  [DONE, 'handled done managed looked taken covered'],
  [BY, 'by'],
  [BE, 'is are'],
  [WITH, 'with'],
  [ANOTHER, 'another'],
  [GONE, 'goes sent given done'],
  [OUTSIDE, 'outside'],
  [BAHAR, 'bahar baahar बाहर'],
  [FROM, 'se hota hoti jata jati karate karwate से होता होती जाता जाती'],
  [SEPARATE, 'alag अलग'],
  [IS, 'karega karegi karenge karta karti karte hai hain hoga है हैं करेगा करेगी करता करती करते'],
  [FOR, 'for'],
  [SOMEBODY_ELSE, 'separate another different alag'],
  [HIRED, 'contractor contractors vendor vendors agency agencies outsiders thekedar'],
])

/**
 * Whether a text says that a skill is not asked for: "no experience in welding needed", "welding is not required", "welding
 * nahi chahiye", "welding is handled by our vendor". Only the clause around the mention, words `from` up to `to`, is read.
 */
export function isNegated(text: string, tokens: Tokens, from: number, to: number): boolean {
  return (
    isDeniedBefore(text, tokens, from, to) ||
    isDeniedBehind(text, tokens, to) ||
    isUnderDenial(text, tokens, from) ||
    isDeniedAside(text, tokens, to)
  )
}

/** "Skills not required: welding, plumbing": all that the heading lists. */
function isUnderDenial(text: string, { hashes, gaps, starts, ends }: Tokens, from: number): boolean {
  for (let at = from; at > 1 && at > from - LONGEST_LIST; at--) {
    if (gaps[at] !== APART) continue
    const sign = signBetween(text, ends[at - 1]!, starts[at]!)
    if (sign === LISTING) continue
    if (sign !== HEADING || !isDenial(hashes[at - 2]!, hashes[at - 1]!)) return false
    for (let word = at - 3; word >= 0 && word >= at - BEFORE && gaps[word + 1] !== APART; word--)
      if (is(hashes[word]!, NOT_THE_SKILL)) return false
    return true
  }
  return false
}

/** "plumbing: not necessary", "plumbing (not needed)", "plumbing - nahi chahiye". */
function isDeniedAside(text: string, { hashes, gaps, starts, ends, count }: Tokens, to: number): boolean {
  return (
    to + 1 < count &&
    gaps[to] === APART &&
    gaps[to + 1] !== APART &&
    isDenial(hashes[to]!, hashes[to + 1]!) &&
    (signBetween(text, ends[to - 1]!, starts[to]!) === HEADING || text[starts[to]! - 1] === '(')
  )
}

/** What the signs between two words do: HEADING, LISTING or 0. */
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

/** "not required", "nahi chahiye", "zaroori nahi". */
function isDenial(first: number, second: number): boolean {
  return (is(first, NO) && is(second, NEEDED)) || (is(second, HINDI_NO) && is(first, NEEDED))
}

function is(hash: number, kind: number): boolean {
  return (kinds.of(hash) & kind) !== 0
}

function isDeniedBefore(
  text: string,
  { hashes, gaps, starts, ends, count }: Tokens,
  from: number,
  to: number,
): boolean {
  // "no cooking, washing or ironing": an "or" beside it makes it part of a list, which commas do not end.
  const listed = (from > 0 && is(hashes[from - 1]!, OR)) || (to < count && gaps[to] !== APART && is(hashes[to]!, OR))
  let forSomebody = false
  for (let at = from - 1; at >= 0 && at >= from - BEFORE; at--) {
    if (gaps[at + 1] === APART && !(listed && text.slice(ends[at], starts[at + 1]).trim() === ',')) return false
    const kind = kinds.of(hashes[at]!)
    if (kind === 0) continue
    if (kind & BUT) return false
    // Hindi says no behind: "helper nahi welder chahiye" asks for a welder.
    if (kind & ENGLISH_NO) return at + 1 === from || !is(hashes[at + 1]!, NOT_A_NO)
    if (forSomebody && kind & SOMEBODY_ELSE) return true
    if (kind & FOR) forSomebody = true
  }
  return false
}

function isDeniedBehind(text: string, tokens: Tokens, to: number): boolean {
  const { hashes } = tokens
  const end = endOfClause(text, tokens, to)
  let denied = false
  for (let at = to; at < end; at++) {
    const kind = kinds.of(hashes[at]!)
    if (kind === 0) continue
    if (kind & WHO) return false
    const next = at + 1 < end ? kinds.of(hashes[at + 1]!) : 0
    // "a plus but not necessary" takes back what is asked, "but no smoking" says something else.
    if (kind & BUT) return (next & NO) !== 0 && hasNear(hashes, at + 1, Math.min(end, at + 4), NEEDED)
    // Hindi may put the no behind: "welding zaroori nahi".
    if (kind & NEEDED) return denied || (next & NO) !== 0
    if (kind & NO && !(kind & NO_TO_WHAT_FOLLOWS) && !(next & NOT_A_NO)) {
      // "CNC walon ke liye jagah nahi": in Hindi the no that ends a clause is about all of it.
      if (at - to < NO_NEAR || (at + 1 === end && kind & HINDI_NO)) return true
      denied = true
    }
    if (kind & EXCUSED || (at - to < OTHERS_NEAR && isDoneByOthers(hashes, at, end))) return true
  }
  return false
}

/** Whether the word at `at`, soon behind a mention, says that others do it. */
function isDoneByOthers(hashes: Int32Array, at: number, end: number): boolean {
  const kind = kinds.of(hashes[at]!)
  const next = at + 1 < end ? kinds.of(hashes[at + 1]!) : 0
  if (kind & OTHERS) return true
  if (kind & BY) return (next & HIRED) !== 0
  if (kind & BE) return (next & BY) !== 0 || ((next & WITH) !== 0 && at + 2 < end && is(hashes[at + 2]!, ANOTHER))
  if (kind & GONE && next & OUTSIDE) return true
  if (kind & BAHAR) return (next & FROM) !== 0
  if (kind & DONE) return hasNear(hashes, at, Math.min(end, at + 1 + BY_NEAR), BY)
  return (kind & SEPARATE) !== 0 && hasNear(hashes, at, Math.min(end, at + 1 + VERB_NEAR), IS)
}

function hasNear(hashes: Int32Array, at: number, end: number, kind: number): boolean {
  for (let other = at + 1; other < end; other++) if (is(hashes[other]!, kind)) return true
  return false
}

/**
 * Where the clause behind a mention ends, or the reading of it. A bracket does not end it: "design software (PVsyst) is not needed". One
 * that says no to what it holds does: "electrician (no plumbing)".
 */
function endOfClause(text: string, { starts, ends, gaps, hashes, count }: Tokens, to: number): number {
  let at = to
  while (at < count && at < to + BEHIND) {
    if (gaps[at] === APART) {
      if (!onlyBracket(text, ends[at - 1]!, starts[at]!)) break
      const opens = text[starts[at]! - 1] === '('
      if (opens && is(hashes[at]!, ENGLISH_NO) && !(at + 1 < count && is(hashes[at + 1]!, NEEDED))) break
    }
    at++
  }
  return at
}

function onlyBracket(text: string, from: number, to: number): boolean {
  let bracket = false
  for (let at = from; at < to; at++) {
    const sign = text[at]!
    if (sign === '(' || sign === ')') bracket = true
    else if (sign !== ' ' && !(sign === '.' && at === from)) return false
  }
  return bracket
}
