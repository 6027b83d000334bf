import { readFileSync } from 'node:fs'
import { stripInvisible } from './strip-invisible.ts'

/**
 * Finds web addresses in names and titles. Email programs turn them into links, so that a name could lead the recipient of an email to
 * any site under the sender's good name.
 */

const DATA_FOLDER = new URL('../../../data/links/', import.meta.url)

/** Characters of a domain label, with the two invisible joiners, which browsers ignore. */
const LABEL = '[\\p{L}\\p{M}\\p{N}_\\u200c\\u200d-]+'
const IGNORED_PATTERN = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu
const DOTTED_PATTERN = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_])${LABEL}(?:\\.${LABEL})+(?=(.?))`, 'gu')
const IP_ADDRESS_PATTERN = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?=[/:])/g
/** A degree such as B.Tech or M.Com. */
const DEGREE_PATTERN = /^(?:[bmd]|ph)\.[a-z]{1,5}$/i
/** Bounded, because an unbounded scheme would take quadratic time to search for. */
const SCHEME_PATTERN = /(?:[a-z][a-z0-9+.-]{0,20})?:\/\//gi
/** Schemes without slashes that programs make links of. */
const BARE_SCHEME_PATTERN = /(?<![\p{L}\p{N}])(?:https?|ftp|mailto|javascript|data):(?=\S)/giu
const WWW_PATTERN = /(?<![\p{L}\p{N}])www\./giu

interface LinkData {
  /** Domains that are rejected in every spelling. */
  anyCase: Set<string>
  /** Domains that are rejected if the first letter after the dot is in lower case. */
  lowerCase: Set<string>
  names: Set<string>
}

let cachedData: LinkData | undefined

function linkData(): LinkData {
  if (cachedData) return cachedData
  const readLines = (file: string) =>
    readFileSync(new URL(file, DATA_FOLDER), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const domainLines = readLines('top-level-domains.txt').map((line) => line.normalize('NFC').split(/\s+/))
  const domainsOf = (group: string) =>
    new Set(domainLines.filter(([name]) => name === group).flatMap((line) => line.slice(1)))
  cachedData = {
    anyCase: domainsOf('any'),
    lowerCase: domainsOf('lower'),
    names: new Set(readLines('names-with-dots.txt').map((name) => name.trim().toLowerCase())),
  }
  return cachedData
}

/** Returns whether a text contains a web address or a domain name, such as `https://…`, `www.…` or `evil.example/login`. */
export function containsLink(text: string): boolean {
  const plainText = toPlainPunctuation(stripInvisible(text))
  if (
    plainText.includes('://') ||
    plainText.search(BARE_SCHEME_PATTERN) >= 0 ||
    plainText.search(WWW_PATTERN) >= 0 ||
    plainText.search(IP_ADDRESS_PATTERN) >= 0
  )
    return true
  for (const [dottedText, nextCharacter] of plainText.matchAll(DOTTED_PATTERN))
    if (domainKind(dottedText, nextCharacter!) === 'certain') return true
  return false
}

/**
 * Removes schemes and adds a space after the dots of domain names, so that no email program makes a link of them. Invisible characters
 * must be stripped before: they could hide a domain name.
 */
export function breakLinks(text: string): string {
  const plainText = toPlainPunctuation(text)
  const brokenText = plainText
    .replace(SCHEME_PATTERN, ' ')
    .replace(BARE_SCHEME_PATTERN, ' ')
    .replace(WWW_PATTERN, 'www ')
    .replace(DOTTED_PATTERN, (dottedText, nextCharacter: string) =>
      domainKind(dottedText, nextCharacter) === undefined ? dottedText : breakDots(dottedText),
    )
    .replace(IP_ADDRESS_PATTERN, breakDots)
  return brokenText === plainText ? text : brokenText.replace(/ {2,}/g, ' ').trim()
}

function breakDots(text: string): string {
  return text.replaceAll('.', '. ')
}

/**
 * Replaces other forms of letters, dots, colons and slashes, which browsers accept in addresses, and removes characters that browsers
 * ignore in them, such as variation selectors. The two joiners remain, because Indian scripts use them.
 */
function toPlainPunctuation(text: string): string {
  return text.replace(IGNORED_PATTERN, '').normalize('NFKC').replaceAll('\u3002', '.')
}

/** Returns `certain` if the text is a domain name, `possible` if it could be one (such as `Sr.Engineer`), otherwise undefined. */
function domainKind(dottedText: string, nextCharacter: string): 'certain' | 'possible' | undefined {
  const { anyCase, lowerCase, names } = linkData()
  const name = dottedText
    .replace(/[\u200c\u200d]/g, '')
    .replace(/[_-]+$/, '')
    .normalize('NFC')
  const labels = name.toLowerCase().split('.')
  const topLevelDomain = labels.at(-1)!
  const hasPath = nextCharacter === '/' || nextCharacter === ':' || nextCharacter === '?'
  if (!anyCase.has(topLevelDomain) && !lowerCase.has(topLevelDomain) && !topLevelDomain.startsWith('xn--'))
    return undefined
  if (DEGREE_PATTERN.test(name) || (names.has(name.toLowerCase()) && !hasPath)) return undefined
  if (anyCase.has(topLevelDomain) || anyCase.has(labels.slice(-2).join('.'))) return 'certain'
  if (hasPath && labels.length > 1) return 'certain'
  const isShortLabel = /^(.|\p{N}+)$/u.test(labels.at(-2)!)
  const firstLetter = name.split('.').at(-1)![0]!
  return isShortLabel || firstLetter !== firstLetter.toLowerCase() ? 'possible' : 'certain'
}

/** Returns a validation error for each text that contains a link. Texts that are not strings are left to the schema. */
export function linkErrors(
  texts: Iterable<readonly [path: string, text: unknown]>,
): { path: string; message: string }[] {
  const message = 'must not contain a web address or a domain name, because it is shown in emails; remove it'
  const errors: { path: string; message: string }[] = []
  for (const [path, text] of texts) if (typeof text === 'string' && containsLink(text)) errors.push({ path, message })
  return errors
}
