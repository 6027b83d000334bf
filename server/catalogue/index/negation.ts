import { APART, hashOf, type Tokens } from './tokens.ts'

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

const ENGLISH_NO =
  'no not without never nor neither except excluding dont doesnt isnt arent wont cannot cant neednt bina बिना'
const HINDI_NO = hashes('nahi nahin nhi mat नहीं मत')
const NO_BEFORE = hashes(ENGLISH_NO)
const NO = new Set([...NO_BEFORE, ...HINDI_NO])
/** These say no to what stands behind them only. */
const NO_TO_WHAT_FOLLOWS = hashes('without never nor neither except excluding bina बिना')
/** "not only welding", "including but not limited to welding", "no less than two years of welding". */
const NOT_A_NO = hashes('only just limited less fewer later matter doubt')
const NEEDED = hashes(
  `required reqd needed necessary mandatory essential must compulsory expected requirement need chahiye zaruri zaroori jaruri jaroori
  zarurat zaroorat jarurat jaroorat चाहिए जरूरी जरूरत आवश्यक आवश्यकता अनिवार्य`,
)
/** "Experience not required: welders, fitters" asks for a welder. */
const NOT_THE_SKILL = hashes(
  'experience exp fresher freshers education qualification qualifications degree english fee fees deposit anubhav अनुभव',
)
const BUT = hashes('but lekin magar लेकिन मगर')
const OR = hashes('or nor ya या')
/** Another clause begins, with a no of its own: "a welder who does not smoke". */
const WHO = hashes('who which that jo जो')
/** "Embroidery people please excuse." */
const EXCUSED = hashes('excuse ignore')
/** Somebody else does it, or nobody. */
const OTHERS = hashes('outsourced subcontracted already closed separate elsewhere excluded')
const DONE = hashes('handled done managed looked taken covered')
/** "is handled by", "is looked after by". */
const BY_NEAR = 3
const BY = hashes('by')
const BE = hashes('is are')
/** "painting is with another gang". */
const WITH = hashes('with')
const ANOTHER = hashes('another')
/** "dry clean goes outside", "painting bahar se hoti hai". */
const GONE = hashes('goes sent given done')
const OUTSIDE = hashes('outside')
const BAHAR = hashes('bahar baahar बाहर')
const FROM = hashes('se hota hoti jata jati karate karwate से होता होती जाता जाती')
const SEPARATE = hashes('alag अलग')
const IS = hashes('karega karegi karenge karta karti karte hai hain hoga है हैं करेगा करेगी करता करती करते')
/** "there is a separate person for painting". */
const FOR = hashes('for')
const SOMEBODY_ELSE = hashes('separate another different alag')

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
      if (NOT_THE_SKILL.has(hashes[word]!)) return false
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
  return (NO.has(first) && NEEDED.has(second)) || (HINDI_NO.has(second) && NEEDED.has(first))
}

function isDeniedBefore(
  text: string,
  { hashes, gaps, starts, ends, count }: Tokens,
  from: number,
  to: number,
): boolean {
  // "no cooking, washing or ironing": an "or" beside it makes it part of a list, which commas do not end.
  const listed = (from > 0 && OR.has(hashes[from - 1]!)) || (to < count && gaps[to] !== APART && OR.has(hashes[to]!))
  let forSomebody = false
  for (let at = from - 1; at >= 0 && at >= from - BEFORE; at--) {
    if (gaps[at + 1] === APART && !(listed && text.slice(ends[at], starts[at + 1]).trim() === ',')) return false
    const hash = hashes[at]!
    if (BUT.has(hash)) return false
    // Hindi says no behind: "helper nahi welder chahiye" asks for a welder.
    if (NO_BEFORE.has(hash)) return at + 1 === from || !NOT_A_NO.has(hashes[at + 1]!)
    if (forSomebody && SOMEBODY_ELSE.has(hash)) return true
    if (FOR.has(hash)) forSomebody = true
  }
  return false
}

function isDeniedBehind(text: string, tokens: Tokens, to: number): boolean {
  const { hashes } = tokens
  const end = endOfClause(text, tokens, to)
  let denied = false
  for (let at = to; at < end; at++) {
    const hash = hashes[at]!
    if (WHO.has(hash)) return false
    const next = at + 1 < end ? hashes[at + 1]! : 0
    // "a plus but not necessary" takes back what is asked, "but no smoking" says something else.
    if (BUT.has(hash)) return NO.has(next) && hasNear(hashes, at + 1, Math.min(end, at + 4), NEEDED)
    // Hindi may put the no behind: "welding zaroori nahi".
    if (NEEDED.has(hash)) return denied || NO.has(next)
    if (NO.has(hash) && !NO_TO_WHAT_FOLLOWS.has(hash) && !NOT_A_NO.has(next)) {
      // "CNC walon ke liye jagah nahi": in Hindi the no that ends a clause is about all of it.
      if (at - to < NO_NEAR || (at + 1 === end && HINDI_NO.has(hash))) return true
      denied = true
    }
    if (EXCUSED.has(hash) || (at - to < OTHERS_NEAR && isDoneByOthers(hashes, at, end))) return true
  }
  return false
}

/** Whether the word at `at`, soon behind a mention, says that others do it. */
function isDoneByOthers(hashes: Int32Array, at: number, end: number): boolean {
  const hash = hashes[at]!
  const next = at + 1 < end ? hashes[at + 1]! : 0
  return (
    OTHERS.has(hash) ||
    (BE.has(hash) && BY.has(next)) ||
    (BE.has(hash) && WITH.has(next) && at + 2 < end && ANOTHER.has(hashes[at + 2]!)) ||
    (GONE.has(hash) && OUTSIDE.has(next)) ||
    (BAHAR.has(hash) && FROM.has(next)) ||
    (DONE.has(hash) && hasNear(hashes, at, Math.min(end, at + 1 + BY_NEAR), BY)) ||
    (SEPARATE.has(hash) && hasNear(hashes, at, Math.min(end, at + 1 + VERB_NEAR), IS))
  )
}

function hasNear(hashes: Int32Array, at: number, end: number, wanted: ReadonlySet<number>): boolean {
  for (let other = at + 1; other < end; other++) if (wanted.has(hashes[other]!)) return true
  return false
}

/** Where the clause behind a mention ends, or the reading of it. A bracket does not end it: "design software (PVsyst) is not needed". */
function endOfClause(text: string, { starts, ends, gaps, count }: Tokens, to: number): number {
  let at = to
  while (at < count && at < to + BEHIND && (gaps[at] !== APART || onlyBracket(text, ends[at - 1]!, starts[at]!))) at++
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

function hashes(words: string): ReadonlySet<number> {
  return new Set(words.split(/\s+/).map(hashOf))
}
