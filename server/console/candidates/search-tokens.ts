import type { OrgScope } from '../../access/caller.ts'
import type { MailboxHasher } from '../../mail/mailbox-hash.ts'

/**
 * Search tokens: keyed hashes of the prefixes of words and of the last digits of phone numbers. `candidate_list` contains tokens instead of
 * names, phone numbers and email addresses. The tokens of one organisation do not match those of another.
 */

/** Maximum number of letters of a word that are compared. */
const MAX_PREFIX_LENGTH = 6
/** A phone number is found by its last digits, if there are this many of them. */
const PHONE_SUFFIX_LENGTHS = [4, 5, 6, 10]
const MAX_WORDS = 8

interface SearchedCandidate {
  name: string
  phone: string | null
  email: string | null
  external_candidate_id: string
}

/** Returns the search tokens of a candidate. */
export function tokensOf(mailboxes: MailboxHasher, scope: OrgScope, candidate: SearchedCandidate): bigint[] {
  const parts = new Set<string>()
  const [localPart = ''] = candidate.email?.split('@') ?? []
  for (const word of [...wordsOf(candidate.name), ...wordsOf(localPart)])
    for (const prefix of prefixesOf(word)) parts.add(`word ${prefix}`)
  for (const id of [candidate.external_candidate_id, candidate.email]) if (id) parts.add(`id ${id.toLowerCase()}`)
  const digits = candidate.phone?.replace(/\D/g, '') ?? ''
  for (const length of PHONE_SUFFIX_LENGTHS) if (digits.length >= length) parts.add(`phone ${digits.slice(-length)}`)
  return [...parts].map((part) => hashPart(mailboxes, scope, part))
}

/**
 * Returns groups of tokens for a query. A candidate matches if it has all tokens of one group. A query is a whole ID or email address, the
 * last digits of a phone number, or prefixes of words.
 */
export function queryTokens(mailboxes: MailboxHasher, scope: OrgScope, query: string): bigint[][] {
  const text = query.trim().toLowerCase()
  if (text === '') return []
  const groups = [[`id ${text}`]]
  const digits = text.replace(/\D/g, '')
  const words = wordsOf(text).slice(0, MAX_WORDS)
  if (/^[+\d\s().-]+$/.test(text) && digits.length >= PHONE_SUFFIX_LENGTHS[0]!) {
    const length = PHONE_SUFFIX_LENGTHS.findLast((each) => each <= digits.length)!
    groups.push([`phone ${digits.slice(-length)}`])
  } else if (words.length > 0 && !text.includes('@')) groups.push(words.map((word) => `word ${prefixOf(word)}`))
  return groups.map((parts) => parts.map((part) => hashPart(mailboxes, scope, part)))
}

/** Returns the words of a text in lower case. Includes combining marks, which Indian scripts use for vowels. */
function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  )
}

function prefixOf(word: string): string {
  return [...word].slice(0, MAX_PREFIX_LENGTH).join('')
}

function prefixesOf(word: string): string[] {
  const letters = [...word].slice(0, MAX_PREFIX_LENGTH)
  return letters.map((_, index) => letters.slice(0, index + 1).join('')).slice(letters.length > 1 ? 1 : 0)
}

function hashPart(mailboxes: MailboxHasher, { orgId, mode }: OrgScope, part: string): bigint {
  return mailboxes.hashText(`search in ${orgId} ${mode}`, part).readBigInt64BE()
}
