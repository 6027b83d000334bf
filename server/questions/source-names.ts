import type { Language, SourceContext } from './questions.ts'

/** What people wrote of their work, made fit to stand in a sentence. It is shown, never obeyed. */

const MOST_OF_A_FIELD = 60

/** What people write into a field that they have nothing for. */
const NOTHING = /^(?:n\.?\s?[/.]?\s?a|none|nil|null|no|not applicable|nothing|undefined|test|xyz|abc|tbd)$/iu
/** Companies that are none: nobody works "at Freelance". */
const NO_COMPANY =
  /^(?:self|self[\s-]*employed|self[\s-]*employment|free[\s-]*lanc(?:e|er|ing)|own (?:business|shop|work)|individual|personal|खुद|ख़ुद|खुद का काम|स्वरोज़?गार)$/iu
/** Certificates whose name says what they are. */
const SAYS_WHAT_IT_IS = /certificat|diploma|degree|licen[cs]e|सर्टिफ|प्रमाण|डिप्लोमा|डिग्री|लाइसेंस/iu
/** "Worked as a helper" in the field for the role. */
const AS_A =
  /^(?:(?:i\s+)?(?:was|am|worked|work|working|served)\s+)?(?:as\s+)?(?:an?|the)\s+(?=\p{L})|^(?:worked|working|served)\s+as\s+/iu

/** The names by slot of a lead-in, as they stand in a sentence; a field that says nothing has none. */
export function namesOf(context: SourceContext, language: Language): Record<string, string> {
  const names: Record<string, string> = {}
  for (const [field, text] of Object.entries(context)) {
    const tidied = typeof text === 'string' ? tidySource(text) : ''
    if (tidied && !NOTHING.test(tidied)) names[field] = tidied
  }
  if (names.description) names.described = ''
  if (names.company && NO_COMPANY.test(names.company)) delete names.company
  if (names.role) {
    const role = tidySource(withoutPlace(names.role.replace(AS_A, ''), names.company))
    if (role) names.role = role
    else delete names.role
  }
  // "You hold the NSDC Level 4 from NSDC" says it twice.
  if (names.issuer && names.certificate?.toLowerCase().includes(names.issuer.toLowerCase())) delete names.issuer
  if (names.project) names.project = quoted(names.project)
  if (names.certificate) {
    const word = SAYS_WHAT_IT_IS.test(names.certificate) ? '' : language === 'hi' ? 'सर्टिफ़िकेट ' : 'certificate '
    names.certificate = word + quoted(names.certificate)
  }
  return names
}

/**
 * A person's own words made fit to stand in a line: no control characters, marks of direction or line breaks, no bullet
 * before them, no full stop or colon after them, and not long.
 */
export function tidySource(text: string, most = MOST_OF_A_FIELD): string {
  const line = text
    .slice(0, most * 20)
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\ufffd]+/gu, (odd) => (/^[\u200c\u200d]$/.test(odd) ? odd : ' '))
    // A heap of marks on one letter runs over the lines above and below it.
    .replace(/(\p{M}{4})\p{M}+/gu, '$1')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/^[\s•·▪●*–—:;,.-]+/u, '')
    .replace(/[\s:;,.?!।–—-]+$/u, '')
  if (!/[\p{L}\p{N}]/u.test(line)) return ''
  const letters = [...line]
  if (letters.length <= most) return line
  const cut = letters.slice(0, most - 1).join('')
  return `${cut.replace(/\s+\S{0,20}$/u, '').replace(/[\s:;,.?!-]+$/u, '')}…`
}

/** "Site engineer at Metro Ltd" where Metro Ltd is the company: the sentence names it already. */
function withoutPlace(role: string, company: string | undefined): string {
  if (!company || role.length <= company.length || !role.toLowerCase().endsWith(company.toLowerCase())) return role
  return role.slice(0, -company.length).replace(/(?:\s+(?:at|in|with|for|of)\s*|[\s@,(|–—-]+)$/iu, '')
}

/** In one pair of quotation marks; those that were there already become single ones. */
function quoted(name: string): string {
  const bare = name.replace(/^["“”„«»'‘’]+(.*?)["“”„«»'‘’]+$/u, '$1')
  return `“${bare.replace(/["“„«]([^"“”„«»]*)["”“»]/gu, '‘$1’').replace(/["“”„«»]/gu, '')}”`
}
