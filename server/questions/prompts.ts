import { readFileSync } from 'node:fs'
import { oneLine } from '../platform/text/strip-invisible.ts'
import type { Language } from './questions.ts'

/** The fixed texts of a conversation, in all languages: `data/prompts/`. */

export const PROMPT_KEYS = [
  ...['language_name', 'consent', 'language_choice', 'yes', 'no', 'skip', 'yes_or_no', 'own_words', 'type_or_say'],
  ...['choose_number', 'enrichment_intro', 'skills_intro', 'skill_intro', 'interest', 'not_understood'],
  ...['thanks_completed', 'thanks_knocked_out', 'thanks_not_interested', 'thanks_refused', 'thanks_stopped'],
  ...['follow_up_1', 'follow_up_2', 'follow_up_3', 'follow_up_4', 'follow_up_5', 'link', 'email_subject'],
  ...['call_opening', 'press_1', 'press_2', 'press_option', 'press_repeat', 'press_stop', 'speak_now', 'call_goodbye'],
  ...['paused', 'expired', 'ended', 'page_send', 'page_language', 'page_progress', 'page_offline', 'page_retry'],
  ...['page_failed', 'page_loading', 'page_answer', 'page_back', 'page_repeat', 'page_speak', 'page_stop'],
  ...['page_stop_sure', 'page_unknown'],
] as const
export type PromptKey = (typeof PROMPT_KEYS)[number]

const FOLDER = new URL('../../data/prompts/', import.meta.url)
const SLOT = /\{(\w+)\}/g
/** A name or a title longer than this is cut: a text message has to stay one. */
const MOST_OF_A_VALUE = 120

const read = new Map<Language, Map<string, string>>()

/** A text with its slots filled in. A value is what somebody wrote: it stays on its line and fills no other slot. */
export function prompt(key: PromptKey, language: Language, values: Record<string, string> = {}): string {
  return textOf(key, language).replace(SLOT, (_, slot: string) => {
    const value = values[slot]
    if (value === undefined) throw new Error(`the text ${key} needs a value for {${slot}}`)
    return slot === 'link' ? value : onOneLine(value)
  })
}

/** The names of the values that a text takes. */
export function slotsOf(key: PromptKey, language: Language = 'en'): string[] {
  return [...new Set([...textOf(key, language).matchAll(SLOT)].map(([, slot]) => slot!))].sort()
}

function textOf(key: PromptKey, language: Language): string {
  let texts = read.get(language)
  if (!texts) {
    texts = new Map()
    for (const line of readFileSync(new URL(`${language}.txt`, FOLDER), 'utf8').split('\n')) {
      const [, name, text] = /^(\w+) = (.+)$/.exec(line) ?? []
      if (name && text) texts.set(name, text)
    }
    read.set(language, texts)
  }
  const text = texts.get(key)
  if (text === undefined) throw new Error(`data/prompts/${language}.txt has no ${key}`)
  return text
}

function onOneLine(value: string): string {
  const line = oneLine(value)
  const letters = [...line]
  return letters.length <= MOST_OF_A_VALUE
    ? line
    : `${letters
        .slice(0, MOST_OF_A_VALUE - 1)
        .join('')
        .trimEnd()}…`
}

type Meaning = 'yes' | 'no' | 'stop' | 'unsure'

interface Words {
  /** What a whole reply means, by language. */
  whole: Map<string, Map<string, Meaning>>
}

let known: Words | undefined

/** Words of courtesy around an answer. */
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
/** What turns a yes into something else. */
const DENIALS = new Set([
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
/** A longer reply tells a story; its first word does not settle it. */
const MOST_WORDS = 8

/**
 * Yes or no, in the conversation's language, in English, or in any other that people here speak. A short reply that begins
 * with one and holds nothing of the other counts too ("yes, two years").
 */
export function readYesNo(text: string, language: Language): 'yes' | 'no' | undefined {
  const { whole } = words()
  const reply = wordsIn(text)
  const meaning = meaningIn(whole, reply, language)
  if (meaning) return meaning === 'yes' || meaning === 'no' ? meaning : undefined
  if (reply.length < 2 || reply.length > MOST_WORDS) return undefined
  const begins = [3, 2, 1].map((length) => meaningIn(whole, reply.slice(0, length), language)).find(Boolean)
  const told = new Set(reply.map((word) => (DENIALS.has(word) ? 'no' : meaningIn(whole, [word], language))))
  if (begins === 'yes') return told.has('no') ? undefined : 'yes'
  if (begins === 'no') return told.has('yes') ? undefined : 'no'
  return undefined
}

/** Whether the whole reply asks, in any language, to be left in peace. */
export function isStop(text: string): boolean {
  const reply = wordsIn(text)
  const bare = reply.filter((word) => !COURTESIES.has(word))
  return [...words().whole.values()].some((meanings) => {
    return meanings.get(reply.join(' ')) === 'stop' || meanings.get(bare.join(' ')) === 'stop'
  })
}

function meaningIn(whole: Words['whole'], reply: string[], language: Language): Meaning | undefined {
  const bare = reply.filter((word) => !COURTESIES.has(word))
  for (const said of [reply.join(' '), bare.join(' ')]) {
    if (!said) continue
    const own = whole.get(language)?.get(said) ?? whole.get('en')?.get(said)
    if (own) return own
    const elsewhere = new Set([...whole.values()].flatMap((meanings) => meanings.get(said) ?? []))
    if (elsewhere.size === 1) return [...elsewhere][0]
  }
  return undefined
}

function words(): Words {
  if (known) return known
  const whole: Words['whole'] = new Map()
  for (const line of readFileSync(new URL('words.txt', FOLDER), 'utf8').split('\n')) {
    const [, language, meaning, list] = /^([a-z]{2}) (yes|no|stop|unsure) = (.+)$/.exec(line) ?? []
    if (!language || !list) continue
    const meanings = whole.get(language) ?? new Map<string, Meaning>()
    for (const said of list.split(';')) meanings.set(wordsIn(said).join(' '), meaning as Meaning)
    whole.set(language, meanings)
  }
  known = { whole }
  return known
}

/** Words without case, punctuation, skin colours and the dot that Hindi writers set or leave out. */
function wordsIn(text: string): string[] {
  return text
    .slice(0, 500)
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u093c|\u200c|\u200d|\ufe0f|[\u{1f3fb}-\u{1f3ff}]/gu, '')
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{M}\p{N}\p{Extended_Pictographic}]+/u)
    .filter(Boolean)
}
