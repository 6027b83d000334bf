import { APART, hashOf, type Tokens } from './tokens.ts'

const BEFORE = 6
const BEHIND = 7
/** "welding is not in scope": a no so near denies it without another word. */
const NO_NEAR = 3
/** "welding ka kaam alag thekedar karega", "welding is outsourced". */
const OTHERS_NEAR = 4
const VERB_NEAR = 4

const NO = hashes(
  'no not without never nor neither except excluding dont doesnt isnt arent wont cannot cant neednt bina nahi nahin nhi mat बिना नहीं मत',
)
/** These say no to what stands behind them only. */
const NO_TO_WHAT_FOLLOWS = hashes('without never nor neither except excluding bina बिना')
/** "not only welding", "including but not limited to welding", "no less than two years of welding". */
const NOT_A_NO = hashes('only just limited less fewer later matter doubt')
const NEEDED = hashes(
  'required needed necessary mandatory essential must compulsory expected requirement need chahiye zaruri zaroori jaruri चाहिए जरूरी',
)
const BUT = hashOf('but')
/** Another clause begins, with a no of its own: "a welder who does not smoke". */
const WHO = hashes('who which that jo जो but lekin लेकिन')
/** Somebody else does it, or nobody. */
const OTHERS = hashes('outsourced subcontracted already closed separate elsewhere excluded')
const DONE = hashes('handled done managed looked taken covered')
/** "is handled by", "is looked after by". */
const BY_NEAR = 3
const BY_SOMEBODY = hashes('by')
const SEPARATE = hashes('alag अलग')
const IS = hashes('karega karegi karenge karta karti karte hai hain hoga है हैं करेगा करेगी करता करती करते')

/**
 * Whether a text says that a skill is not asked for: "no experience in welding needed", "welding is not required", "welding
 * nahi chahiye", "welding is handled by our vendor". Only the clause around the mention, words `from` up to `to`, is read.
 */
export function isNegated(text: string, tokens: Tokens, from: number, to: number): boolean {
  const { hashes, gaps } = tokens
  for (let at = from - 1; at >= 0 && at >= from - BEFORE && gaps[at + 1] !== APART; at--) {
    if (hashes[at] === BUT) return false
    if (NO.has(hashes[at]!)) return at + 1 === from || !NOT_A_NO.has(hashes[at + 1]!)
  }
  const end = endOfClause(text, tokens, to)
  let denied = false
  for (let at = to; at < end; at++) {
    const hash = hashes[at]!
    if (WHO.has(hash)) return false
    const next = at + 1 < end ? hashes[at + 1]! : 0
    // Hindi may put the no behind: "welding zaroori nahi".
    if (NEEDED.has(hash)) return denied || NO.has(next)
    if (NO.has(hash) && !NO_TO_WHAT_FOLLOWS.has(hash) && !NOT_A_NO.has(next)) {
      if (at - to < NO_NEAR) return true
      denied = true
    }
    if (at - to >= OTHERS_NEAR) continue
    if (OTHERS.has(hash)) return true
    if (DONE.has(hash) && hasNear(hashes, at, Math.min(end, at + 1 + BY_NEAR), BY_SOMEBODY)) return true
    if (SEPARATE.has(hash) && hasNear(hashes, at, Math.min(end, at + 1 + VERB_NEAR), IS)) return true
  }
  return false
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
  return new Set(words.split(' ').map(hashOf))
}
