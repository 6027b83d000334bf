import { readFileSync } from 'node:fs'
import type { Language } from '../platform/text/languages.ts'
import { breakLinks } from '../platform/text/links.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'

/** Fixed texts of a conversation in all languages, from `data/prompts/`. */

export const PROMPT_KEYS = [
  ...['language_name', 'consent', 'consent_yes', 'consent_no', 'not_now', 'reply_stop', 'language_choice'],
  ...['skill_language', 'yes', 'no', 'skip', 'yes_or_no', 'own_words', 'type_or_say', 'choose_number'],
  ...['enrichment_intro', 'skills_intro', 'back_hint', 'back_limit', 'skill_intro', 'interest', 'later', 'later_today'],
  ...['later_tomorrow', 'later_never', 'contact_today', 'contact_tomorrow', 'not_understood'],
  ...['thanks_completed', 'thanks_knocked_out', 'thanks_not_interested', 'thanks_refused', 'thanks_stopped'],
  ...['follow_up_1', 'follow_up_2', 'follow_up_3', 'follow_up_4', 'follow_up_5', 'follow_up_requested'],
  ...['link', 'email_subject', 'email_stop'],
  ...['call_opening', 'press_1', 'press_2', 'press_option', 'press_repeat', 'press_stop', 'speak_now', 'call_goodbye'],
  ...['call_link'],
  ...['paused', 'expired', 'ended', 'page_send', 'page_language', 'page_progress', 'page_offline', 'page_retry'],
  ...['page_failed', 'page_loading', 'page_answer', 'page_back', 'page_repeat', 'page_speak', 'page_stop'],
  ...['page_stop_sure', 'page_unknown', 'page_ask_company', 'page_ask_sender'],
] as const
export type PromptKey = (typeof PROMPT_KEYS)[number]

const PROMPTS_FOLDER = new URL('../../data/prompts/', import.meta.url)
const SLOT_PATTERN = /\{(\w+)\}/g
/** Longer values are truncated, so that text messages stay short. */
const MAX_VALUE_LENGTH = 120

/** Slots with text of partners, in which a web address must not become a link. Skills come from the catalogue: ASP.NET is no link. */
const LINK_FREE_SLOTS = new Set(['name', 'company', 'title'])

const textsByLanguage = new Map<Language, Map<string, string>>()

/** Returns a text with its slots filled. Values are user text: they are reduced to one line and cannot fill other slots. */
export function prompt(key: PromptKey, language: Language, values: Record<string, string> = {}): string {
  return textOf(key, language).replace(SLOT_PATTERN, (_, slot: string) => {
    const value = values[slot]
    if (value === undefined) throw new Error(`prompt ${key} requires a value for {${slot}}`)
    return slot === 'link' ? value : toOneLine(value, LINK_FREE_SLOTS.has(slot))
  })
}

/** Returns a text with its slots unfilled. */
export function promptTemplate(key: PromptKey, language: Language): string {
  return textOf(key, language)
}

/** Returns the slot names of a text. */
export function slotsOf(key: PromptKey, language: Language = 'en'): string[] {
  return [...new Set([...textOf(key, language).matchAll(SLOT_PATTERN)].map(([, slot]) => slot!))].sort()
}

function textOf(key: PromptKey, language: Language): string {
  let texts = textsByLanguage.get(language)
  if (!texts) {
    texts = new Map()
    for (const line of readFileSync(new URL(`${language}.txt`, PROMPTS_FOLDER), 'utf8').split('\n')) {
      const [, name, text] = /^(\w+) = (.+)$/.exec(line) ?? []
      if (name && text) texts.set(name, text)
    }
    textsByLanguage.set(language, texts)
  }
  const text = texts.get(key)
  if (text === undefined) throw new Error(`data/prompts/${language}.txt does not contain ${key}`)
  return text
}

function toOneLine(value: string, withoutLinks: boolean): string {
  const singleLine = withoutLinks ? breakLinks(toSingleLine(value)) : toSingleLine(value)
  const characters = [...singleLine]
  return characters.length <= MAX_VALUE_LENGTH
    ? singleLine
    : `${characters
        .slice(0, MAX_VALUE_LENGTH - 1)
        .join('')
        .trimEnd()}…`
}

const MEANINGS = ['yes', 'no', 'later', 'unsure', 'back', 'thanks', 'today', 'tomorrow', 'never', 'stop'] as const
type Meaning = (typeof MEANINGS)[number]

/** Meanings of whole replies, by language. */
type ReplyMeanings = Map<string, Map<string, Meaning>>

let cachedMeanings: ReplyMeanings | undefined

/** Polite words that are ignored in replies. */
const COURTESIES = new Set([
  'please',
  'pls',
  'plz',
  'sir',
  'madam',
  'maam',
  'thanks',
  'now',
  'कृपया',
  'जी',
  'सर',
  'भैया',
  'मैडम',
])
/** Words that make a reply something other than a plain yes. */
const NEGATIONS = new Set([
  'not',
  'dont',
  'cant',
  'cannot',
  'havent',
  'never',
  'without',
  'but',
  'lekin',
  'लेकिन',
  'पर',
  'मगर',
])
/** Negations that only contrast two parts of a reply: "yes, but later". */
const CONTRASTS = new Set(['but', 'lekin', 'लेकिन', 'पर', 'मगर'])
/** In longer replies the first word does not decide the meaning. */
const MAX_REPLY_WORDS = 8
/** Longer replies are truncated. */
const MAX_REPLY_LENGTH = 500

/**
 * Reads yes, no or "not now" in the conversation's language, in English or in any other supported language. A short reply can contain
 * more words ("yes, two years") if it starts with a word for yes and contains none for no or for later, or the other way round.
 */
export function readYesNo(text: string, language: Language): 'yes' | 'no' | 'later' | undefined {
  const meaningsByLanguage = replyMeanings()
  const replyWords = wordsIn(text)
  const meaning = meaningIn(meaningsByLanguage, replyWords, language)
  if (meaning) return meaning === 'yes' || meaning === 'no' || meaning === 'later' ? meaning : undefined
  if (replyWords.length < 2 || replyWords.length > MAX_REPLY_WORDS) return undefined
  // A phrase such as "no problem" has another meaning than its first word, so longer phrases are tried first.
  const firstMeaning = [3, 2, 1]
    .map((length) => meaningIn(meaningsByLanguage, replyWords.slice(0, length), language))
    .find(Boolean)
  const meanings = new Set(
    replyWords.map((word) => (NEGATIONS.has(word) ? 'no' : meaningIn(meaningsByLanguage, [word], language))),
  )
  if (firstMeaning === 'later') return meanings.has('yes') ? undefined : 'later'
  if (mentions(replyWords, language, ['later'])) return undefined
  if (firstMeaning === 'yes') return meanings.has('no') ? undefined : 'yes'
  if (firstMeaning === 'no') return meanings.has('yes') ? undefined : 'no'
  return undefined
}

/**
 * Returns true if a short reply contains a phrase for a later time ("yes, but call me later", "ok, tomorrow"), unless the reply negates
 * it ("never call me later").
 */
export function mentionsLater(text: string, language: Language): boolean {
  return mentions(wordsIn(text), language, ['later', 'tomorrow'])
}

function mentions(replyWords: string[], language: Language, expectedMeanings: Meaning[]): boolean {
  if (replyWords.length > MAX_REPLY_WORDS) return false
  const meaningsByLanguage = replyMeanings()
  const isExpected = (words: string[]) => {
    const meaning = meaningIn(meaningsByLanguage, words, language)
    return meaning !== undefined && expectedMeanings.includes(meaning)
  }
  if (isExpected(replyWords)) return true
  return replyWords.some((_, start) =>
    [3, 2, 1].some((length) => {
      const otherWords = [...replyWords.slice(0, start), ...replyWords.slice(start + length)]
      const isNegated = otherWords.some((word) => NEGATIONS.has(word) && !CONTRASTS.has(word))
      return start + length <= replyWords.length && !isNegated && isExpected(replyWords.slice(start, start + length))
    }),
  )
}

/** Reads a reply that consists of words for one of these meanings, and nothing else. */
export function readExactly<Expected extends Meaning>(
  text: string,
  language: Language,
  expectedMeanings: readonly Expected[],
): Expected | undefined {
  const meaning = meaningIn(replyMeanings(), wordsIn(text), language)
  return expectedMeanings.find((expected) => expected === meaning)
}

/** Returns true if the reply consists of at most one word. */
export function isOneWord(text: string): boolean {
  return wordsIn(text).length <= 1
}

/** Returns true if the whole reply is an opt-out in any language. */
export function isOptOutReply(text: string): boolean {
  const replyWords = wordsIn(text)
  const withoutCourtesies = replyWords.filter((word) => !COURTESIES.has(word))
  return [...replyMeanings().values()].some((meanings) => {
    return meanings.get(replyWords.join(' ')) === 'stop' || meanings.get(withoutCourtesies.join(' ')) === 'stop'
  })
}

function meaningIn(meaningsByLanguage: ReplyMeanings, replyWords: string[], language: Language): Meaning | undefined {
  const withoutCourtesies = replyWords.filter((word) => !COURTESIES.has(word))
  for (const phrase of [replyWords.join(' '), withoutCourtesies.join(' ')]) {
    if (!phrase) continue
    const meaning = meaningsByLanguage.get(language)?.get(phrase) ?? meaningsByLanguage.get('en')?.get(phrase)
    if (meaning) return meaning
    const inOtherLanguages = new Set([...meaningsByLanguage.values()].flatMap((meanings) => meanings.get(phrase) ?? []))
    if (inOtherLanguages.size === 1) return [...inOtherLanguages][0]
  }
  return undefined
}

function replyMeanings(): ReplyMeanings {
  if (cachedMeanings) return cachedMeanings
  const meaningsByLanguage: ReplyMeanings = new Map()
  for (const line of readFileSync(new URL('words.txt', PROMPTS_FOLDER), 'utf8').split('\n')) {
    const [, language, meaning, list] = /^([a-z]{2}) ([a-z]+) = (.+)$/.exec(line) ?? []
    if (!language || !list) continue
    if (!MEANINGS.some((known) => known === meaning))
      throw new Error(`data/prompts/words.txt has no meaning ${meaning}`)
    const meanings = meaningsByLanguage.get(language) ?? new Map<string, Meaning>()
    for (const phrase of list.split(';')) meanings.set(wordsIn(phrase).join(' '), meaning as Meaning)
    meaningsByLanguage.set(language, meanings)
  }
  cachedMeanings = meaningsByLanguage
  return cachedMeanings
}

/** Splits into words without case, punctuation, emoji skin tones and the Hindi nukta. */
function wordsIn(text: string): string[] {
  return text
    .slice(0, MAX_REPLY_LENGTH)
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u093c|\u200c|\u200d|\ufe0f|[\u{1f3fb}-\u{1f3ff}]/gu, '')
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{M}\p{N}\p{Extended_Pictographic}]+/u)
    .filter(Boolean)
}
