import type { Rendered } from '../../conversation/render.ts'
import { prompt } from '../../questions/prompts.ts'
import type { Language } from '../../questions/questions.ts'
import type { CallTurn } from '../inbound.ts'
import { questionIn } from '../message-text.ts'

/** The voices that the provider has. Odia and Assamese have none, and nothing that would understand them. */
const voices: Partial<Record<Language, string>> = {
  en: 'en-IN',
  hi: 'hi-IN',
  bn: 'bn-IN',
  ta: 'ta-IN',
  te: 'te-IN',
  mr: 'mr-IN',
  gu: 'gu-IN',
  kn: 'kn-IN',
  ml: 'ml-IN',
  pa: 'pa-IN',
}
/** Where the name for understanding speech is another one than for speaking. */
const heard: Partial<Record<Language, string>> = { pa: 'pa-Guru-IN' }

export function speaks(language: Language): boolean {
  return voices[language] !== undefined
}

/** Seconds of silence after which the question is put again, once. */
const PATIENCE = 7
/** Keys with a meaning of their own where there are no more options than the others can name. */
const REPEAT = '9'
const STOP = '0'
const MOST_KEYS = 8

/**
 * The next turn of a call: what is to be said, and the question with its keys. Silence is met with the question once more, then
 * with a goodbye. `action` is where the answer goes.
 */
export function turnTwiml(turn: CallTurn, action: string): string {
  const { greeting, prompts, over } = turn
  const language = speaks(turn.language) ? turn.language : 'en'
  const question = over ? undefined : questionIn(prompts)
  const before = [
    ...(greeting ? [greeting] : []),
    ...(question ? prompts.slice(0, -1) : prompts).map(({ text }) => text),
  ]
  const goodbye = `${say(prompt('call_goodbye', language), language)}<Hangup/>`
  if (!question) return response(`${before.map((text) => say(text, language)).join('')}${goodbye}`)
  const gather = gathering(spokenChoices(question), language, action)
  return response(`${before.map((text) => say(text, language)).join('')}${gather}${gather}${goodbye}`)
}

/** A language that cannot be spoken is not offered. */
function spokenChoices(question: Rendered): Rendered {
  return { ...question, choices: question.choices.filter(({ value }) => value !== 'or' && value !== 'as') }
}

function gathering(question: Rendered, language: Language, action: string): string {
  const { kind, choices, step } = question
  const few = choices.length <= MOST_KEYS
  const keys =
    kind === 'yes_no'
      ? [
          prompt('press_1', language),
          prompt('press_2', language),
          ...choices.slice(2).map(({ label }) => prompt('press_option', language, { option: label, number: '3' })),
        ]
      : choices.map(({ label }, index) =>
          prompt('press_option', language, { option: label, number: String(index + 1) }),
        )
  const words = [
    question.text,
    ...(kind === 'words' ? [prompt('speak_now', language)] : []),
    ...keys,
    ...(few ? [prompt('press_repeat', language)] : []),
    ...(step === 1 ? [prompt('press_stop', language)] : []),
  ]
  const attributes = {
    input: 'dtmf speech',
    language: heard[language] ?? voices[language]!,
    timeout: String(PATIENCE),
    speechTimeout: 'auto',
    // Two keys where one does not name every option; the provider waits for the second, or for the hash.
    numDigits: few ? '1' : '2',
    action,
    method: 'POST',
  }
  const given = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`)
  return `<Gather${given.join('')}>${words.map((text) => say(text, language)).join('')}</Gather>`
}

/** What keys mean for a question. */
export function keyMeaning(question: Rendered, digits: string): { value: string } | 'repeat' | 'stop' | undefined {
  const { choices } = spokenChoices(question)
  if (digits === STOP) return 'stop'
  const choice = choices[Number(digits) - 1]
  if (choice) return { value: choice.value }
  return digits === REPEAT ? 'repeat' : undefined
}

function say(text: string, language: Language): string {
  const voice = voices[language]!
  return `<Say language="${voice}" voice="Google.${voice}-Standard-A">${escaped(text)}</Say>`
}

function response(verbs: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`
}

/** For a call that is not ours, or that cannot go on. */
export const hangUp = response('<Hangup/>')
export const nothing = response('')

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (mark) => `&#${mark.codePointAt(0)};`)
}
