import { toAsciiDigits } from '../platform/text/ascii-digits.ts'
import type { Language } from '../platform/text/languages.ts'
import { isOneWord, isOptOutReply, mentionsLater, prompt, readExactly, readYesNo } from '../questions/prompts.ts'
import type { ConversationFlow } from './flow.ts'
import { shownItem } from './skill-form.ts'
import type { ConversationState } from './state.ts'

/** One input from a channel or from the candidate's page. */
export type ConversationInput =
  /** `value`: value of the pressed button. `text`: written or spoken reply. `step`: step of the question, if the channel sends it. */
  | { kind: 'reply'; step?: number; value?: string; text?: string }
  | { kind: 'language'; language: Language }
  | { kind: 'repeat' }
  | { kind: 'back'; step?: number }
  | { kind: 'stop' }

/** The meaning of a reply to the current question. */
export type ReplyMeaning =
  | { is: 'yes' | 'no' | 'skip' | 'back' | 'repeat' | 'stop' | 'stale' | 'unknown' }
  /** `later`: not now. `acknowledged`: "ok" or "thanks" after a contact was agreed. */
  | { is: 'later' | 'today' | 'tomorrow' | 'never' | 'acknowledged' }
  | { is: 'choice'; choice: number }
  | { is: 'words'; words: string }
  | { is: 'language'; language: Language }

/** Longer answers are truncated. */
const MAX_ANSWER_CODE_POINTS = 2000

/** Interprets a reply: an opt-out first, even as a reply to an earlier question, then buttons, then text. */
export function meaningOf(state: ConversationState, flow: ConversationFlow, input: ConversationInput): ReplyMeaning {
  if (input.kind === 'stop') return { is: 'stop' }
  if (input.kind === 'repeat') return { is: 'repeat' }
  if (input.kind === 'language')
    return flow.languages.includes(input.language) ? { is: 'language', language: input.language } : { is: 'unknown' }
  if (input.kind === 'back') return isStale(state, input.step) ? { is: 'stale' } : { is: 'back' }
  const text = input.text?.trim() ?? ''
  if (input.value === 'stop' || isOptOutReply(text)) return { is: 'stop' }
  if (isStale(state, input.step)) return { is: 'stale' }
  return input.value === undefined ? meaningOfText(state, flow, text) : meaningOfButton(state, flow, input.value)
}

function isStale(state: ConversationState, step: number | undefined) {
  return step !== undefined && step !== state.step
}

function meaningOfButton(state: ConversationState, flow: ConversationFlow, value: string): ReplyMeaning {
  const { point } = state
  if (value === 'repeat') return { is: 'repeat' }
  if (value === 'back') return { is: 'back' }
  if (point.at === 'later') return CONTACT_TIMES.find(({ is }) => is === value) ?? { is: 'unknown' }
  if (value === 'later') return { is: 'later' }
  if (point.at === 'language') return matchLanguage(flow.languages, value)
  if (point.at === 'skill_language') return matchLanguage(flow.skills[point.skill]!.languages, value)
  if (point.at === 'skills') return /^[0-3]$/.test(value) ? { is: 'choice', choice: Number(value) } : { is: 'unknown' }
  if (value === 'skip') return canSkip(state, flow) ? { is: 'skip' } : { is: 'unknown' }
  return (value === 'yes' || value === 'no') && !isVoice(state, flow) ? { is: value } : { is: 'unknown' }
}

function meaningOfText(state: ConversationState, flow: ConversationFlow, text: string): ReplyMeaning {
  const { point, language } = state
  if (text === '') return { is: 'unknown' }
  if (isAcknowledgement(state, text)) return { is: 'acknowledged' }
  const textWithDigits = toAsciiDigits(text)
  switch (point.at) {
    case 'later':
      return contactTimeIn(textWithDigits, language)
    case 'language':
      return orCommand(matchLanguage(flow.languages, textWithDigits), text, language, ['later'])
    case 'skill_language': {
      const { languages } = flow.skills[point.skill]!
      return orCommand(matchLanguage(languages, textWithDigits), text, language, ['later', 'back'])
    }
    case 'skills': {
      const { options } = shownItem(state, flow, point)
      return orCommand(matchOption(options, text), text, language, ['later', 'back'])
    }
  }
  if (/^skip$/i.test(text) && canSkip(state, flow)) return { is: 'skip' }
  if (isVoice(state, flow)) {
    const words = [...text].slice(0, MAX_ANSWER_CODE_POINTS).join('')
    // A longer text is an answer, even if it means "not now": "Where do you work?" – "Not now".
    const command = isOneWord(text) ? readExactly(text, language, ['later', 'back']) : undefined
    return command ? { is: command } : { is: 'words', words }
  }
  // On keypads and in plain text messages, 1 is yes and 2 is no.
  if (textWithDigits === '1' || textWithDigits === '2') return { is: textWithDigits === '1' ? 'yes' : 'no' }
  if (point.at === 'consent') {
    if (textWithDigits === '3' || mentionsLater(text, language)) return { is: 'later' }
  } else if (readExactly(text, language, ['back'])) return { is: 'back' }
  const answer = readYesNo(text, language)
  return answer ? { is: answer } : { is: 'unknown' }
}

/** Returns the meaning, or if the reply was not understood as an answer, one of these commands in words. */
function orCommand(
  meaning: ReplyMeaning,
  text: string,
  language: Language,
  commands: readonly ('later' | 'back')[],
): ReplyMeaning {
  if (meaning.is !== 'unknown') return meaning
  const command = readExactly(text, language, commands)
  return command ? { is: command } : meaning
}

/** The answers to the question of when to contact the candidate again, in the order of the options. */
const CONTACT_TIMES = [{ is: 'today' }, { is: 'tomorrow' }, { is: 'never' }] as const

function contactTimeIn(text: string, language: Language): ReplyMeaning {
  const optionNumber = /^\(?([1-3])[).]?$/.exec(text)?.[1]
  if (optionNumber !== undefined) return CONTACT_TIMES[Number(optionNumber) - 1]!
  const command = readExactly(text, language, ['today', 'tomorrow', 'never', 'later', 'back'])
  return command ? { is: command } : { is: 'unknown' }
}

/**
 * Returns true for "ok" or "thanks" while a contact is agreed: such a reply confirms it and answers no question. A plain "yes" is a
 * deliberate answer.
 */
export function isAcknowledgement({ contactAt, language }: ConversationState, text: string): boolean {
  if (contactAt === undefined) return false
  if (readExactly(text, language, ['thanks'])) return true
  const isPlainYes = [prompt('yes', language), prompt('yes', 'en')].some(
    (label) => normalize(label) === normalize(text),
  )
  return !isPlainYes && readExactly(text, language, ['yes']) !== undefined
}

function isVoice({ point }: ConversationState, flow: ConversationFlow) {
  return point.at === 'enrichment' && flow.enrichment[point.question]!.type === 'voice'
}

function canSkip({ point }: ConversationState, flow: ConversationFlow) {
  return point.at === 'enrichment' && !flow.enrichment[point.question]!.required
}

/** Matches a language by its code, its number in the list, or its name in English or in the language itself. */
function matchLanguage(languages: readonly Language[], text: string): ReplyMeaning {
  const lowerCaseText = text.toLocaleLowerCase()
  const language = /^\d{1,2}$/.test(lowerCaseText)
    ? languages[Number(lowerCaseText) - 1]
    : languages.find((code) => code === lowerCaseText || languageNames(code).includes(lowerCaseText))
  return language ? { is: 'language', language } : { is: 'unknown' }
}

/** Created at the first use, because this takes 30 ms. */
let englishNames: Intl.DisplayNames | undefined

function languageNames(code: Language): string[] {
  englishNames ??= new Intl.DisplayNames(['en'], { type: 'language' })
  return [prompt('language_name', code), englishNames.of(code) ?? code].map((name) => name.toLocaleLowerCase())
}

/** Matches `2`, `b`, `(B)` or the text of the option. */
function matchOption(options: readonly string[], text: string): ReplyMeaning {
  const optionLabel = /^\(?([1-4a-d])[).]?$/i.exec(toAsciiDigits(text))?.[1]?.toLowerCase()
  if (optionLabel !== undefined)
    return {
      is: 'choice',
      choice: '1234'.includes(optionLabel) ? Number(optionLabel) - 1 : 'abcd'.indexOf(optionLabel),
    }
  const choice = options.findIndex((option) => normalize(option) === normalize(text))
  return choice < 0 ? { is: 'unknown' } : { is: 'choice', choice }
}

function normalize(text: string) {
  return toAsciiDigits(text)
    .toLocaleLowerCase()
    .replace(/[\s.,;:!?'"’।]+/g, ' ')
    .trim()
}
