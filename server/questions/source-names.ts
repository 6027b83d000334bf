import type { Language } from '../platform/text/languages.ts'
import type { SourceContext } from './questions.ts'

/** Prepares user text about work for use in a sentence. It is displayed, never interpreted. */

const MAX_FIELD_LENGTH = 60

/** Values that people enter when a field does not apply. */
const PLACEHOLDER_VALUE = /^(?:n\.?\s?[/.]?\s?a|none|nil|null|no|not applicable|nothing|undefined|test|xyz|abc|tbd)$/iu
/** Values that are not companies, such as "Freelance". */
const NOT_A_COMPANY =
  /^(?:self|self[\s-]*employed|self[\s-]*employment|free[\s-]*lanc(?:e|er|ing)|own (?:business|shop|work)|individual|personal|खुद|ख़ुद|खुद का काम|स्वरोज़?गार)$/iu
/** Names that already contain a word such as "certificate" or "diploma". */
const NAMES_CERTIFICATE = /certificat|diploma|degree|licen[cs]e|सर्टिफ|प्रमाण|डिप्लोमा|डिग्री|लाइसेंस/iu
/** Prefixes such as "Worked as a" in the role field. */
const ROLE_PREFIX =
  /^(?:(?:i\s+)?(?:was|am|worked|work|working|served)\s+)?(?:as\s+)?(?:an?|the)\s+(?=\p{L})|^(?:worked|working|served)\s+as\s+/iu

/** Returns the names for the slots of a lead-in; placeholder values are left out. */
export function sourceNames(context: SourceContext, language: Language): Record<string, string> {
  const names: Record<string, string> = {}
  for (const [field, text] of Object.entries(context)) {
    const tidyText = typeof text === 'string' ? tidySourceText(text) : ''
    if (tidyText && !PLACEHOLDER_VALUE.test(tidyText)) names[field] = tidyText
  }
  // An empty value: the slot only marks the lead-ins for work that the person described.
  if (names.description) names.described = ''
  if (names.company && NOT_A_COMPANY.test(names.company)) delete names.company
  if (names.role) {
    const role = tidySourceText(stripCompany(names.role.replace(ROLE_PREFIX, ''), names.company))
    if (role) names.role = role
    else delete names.role
  }
  // Avoid repetition as in "the NSDC Level 4 from NSDC".
  if (names.issuer && names.certificate?.toLowerCase().includes(names.issuer.toLowerCase())) delete names.issuer
  if (names.project) names.project = quoteName(names.project)
  if (names.certificate) {
    const certificateWord = NAMES_CERTIFICATE.test(names.certificate)
      ? ''
      : language === 'hi'
        ? 'सर्टिफ़िकेट '
        : 'certificate '
    names.certificate = certificateWord + quoteName(names.certificate)
  }
  return names
}

/**
 * Cleans user text for use within a line: removes control and direction characters, line breaks, leading bullets, trailing full
 * stops and colons, and limits the length.
 */
export function tidySourceText(text: string, maxLength = MAX_FIELD_LENGTH): string {
  const line = text
    .slice(0, maxLength * 20)
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\ufffd]+/gu, (match) =>
      /^[\u200c\u200d]$/.test(match) ? match : ' ',
    )
    // Many combining marks on one letter would overlap other lines.
    .replace(/(\p{M}{4})\p{M}+/gu, '$1')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/^[\s•·▪●*–—:;,.-]+/u, '')
    .replace(/[\s:;,.?!।–—-]+$/u, '')
  if (!/[\p{L}\p{N}]/u.test(line)) return ''
  const characters = [...line]
  if (characters.length <= maxLength) return line
  const truncated = characters.slice(0, maxLength - 1).join('')
  return `${truncated.replace(/\s+\S{0,20}$/u, '').replace(/[\s:;,.?!-]+$/u, '')}…`
}

/** Removes the company from a role such as "Site engineer at Metro Ltd", because the sentence names it already. */
function stripCompany(role: string, company: string | undefined): string {
  if (!company || role.length <= company.length || !role.toLowerCase().endsWith(company.toLowerCase())) return role
  return role.slice(0, -company.length).replace(/(?:\s+(?:at|in|with|for|of)\s*|[\s@,(|–—-]+)$/iu, '')
}

/** Quotes the text; quotation marks inside become single ones. */
function quoteName(name: string): string {
  const unquoted = name.replace(/^["“”„«»'‘’]+(.*?)["“”„«»'‘’]+$/u, '$1')
  return `“${unquoted.replace(/["“„«]([^"“”„«»]*)["”“»]/gu, '‘$1’').replace(/["“”„«»]/gu, '')}”`
}
