import { APART, hashOf, type Tokens } from '../text/tokens.ts'

/**
 * Languages. Advertisements name them more often than they ask for them, and of "Tamil or Hindi" neither is asked for: any one
 * will do.
 */

const LANGUAGES = words(`
hindi english tamil telugu kannada malayalam marathi gujarati bengali bangla punjabi odia oriya assamese urdu konkani bhojpuri maithili
rajasthani magahi nepali manipuri sanskrit sindhi kashmiri arabic french german spanish japanese mandarin chinese korean russian italian
portuguese dutch danish swedish norwegian finnish turkish hebrew persian thai vietnamese greek czech hungarian romanian ukrainian
हिंदी हिन्दी अंग्रेजी तमिल तेलुगु कन्नड़ मलयालम मराठी गुजराती बंगाली पंजाबी उड़िया असमिया उर्दू कोंकणी भोजपुरी मैथिली नेपाली संस्कृत
`)
const OR = words('or ya या')
const SLASH = 0x2f

/** Whether the words `from` up to `to` are a language's name. */
export function isLanguage({ hashes }: Tokens, from: number, to: number): boolean {
  return to - from === 1 && LANGUAGES.has(hashes[from]!)
}

/** Whether another language would do as well: "Tamil or Hindi", "Hindi/Konkani". */
export function isOneOfSeveral(text: string, tokens: Tokens, at: number): boolean {
  return isAlternative(text, tokens, at, at + 1, 1) || isAlternative(text, tokens, at - 1, at, -1)
}

/** Whether a slash or an "or" leads from a language to another: behind it when `step` is 1, before it when -1. */
function isAlternative(text: string, tokens: Tokens, left: number, right: number, step: number): boolean {
  const { hashes, gaps, starts, ends, count } = tokens
  if (left < 0 || right >= count) return false
  for (let at = ends[left]!; at < starts[right]!; at++)
    if (text.charCodeAt(at) === SLASH) return LANGUAGES.has(hashes[step > 0 ? right : left]!)
  const or = step > 0 ? right : left
  const other = or + step
  if (!OR.has(hashes[or]!) || other < 0 || other >= count) return false
  return gaps[right] !== APART && gaps[step > 0 ? other : right] !== APART && LANGUAGES.has(hashes[other]!)
}

function words(list: string): ReadonlySet<number> {
  return new Set(list.trim().split(/\s+/).map(hashOf))
}
