import { APART, hashOf, type Tokens } from './tokens.ts'

const BEFORE = 6
const BEHIND = 7

const NO = hashes(
  'no not without never nor neither dont doesnt isnt arent wont cannot cant neednt bina nahi nahin बिना नहीं',
)
/** "not only welding", "including but not limited to welding", "no less than two years of welding". */
const NOT_A_NO = hashes('only just limited less fewer later matter doubt')
const NEEDED = hashes(
  'required needed necessary mandatory essential must compulsory expected requirement need chahiye zaruri zaroori jaruri चाहिए जरूरी',
)
const BUT = hashOf('but')

/**
 * Whether a text says that a skill is not asked for: "no experience in welding needed", "welding is not required", "welding
 * nahi chahiye". Only the clause around the mention, words `from` up to `to`, is read.
 */
export function isNegated({ hashes, gaps, count }: Tokens, from: number, to: number): boolean {
  for (let at = from - 1; at >= 0 && at >= from - BEFORE && gaps[at + 1] !== APART; at--) {
    if (hashes[at] === BUT) return false
    if (NO.has(hashes[at]!)) return at + 1 === from || !NOT_A_NO.has(hashes[at + 1]!)
  }
  let denied = false
  for (let at = to; at < count && at < to + BEHIND && gaps[at] !== APART; at++) {
    const followed = at + 1 < count && gaps[at + 1] !== APART
    // Hindi may put the no behind: "welding zaroori nahi".
    if (NEEDED.has(hashes[at]!)) return denied || (followed && NO.has(hashes[at + 1]!))
    if (NO.has(hashes[at]!)) denied = !(followed && NOT_A_NO.has(hashes[at + 1]!))
  }
  return false
}

function hashes(words: string): ReadonlySet<number> {
  return new Set(words.split(' ').map(hashOf))
}
