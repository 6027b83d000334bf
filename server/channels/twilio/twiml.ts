import type { RenderedPrompt } from '../../conversation/render.ts'
import type { Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import type { CallTurn } from '../inbound.ts'
import { questionIn } from '../message-text.ts'

/** Locale of Twilio's voice for each language. Odia and Assamese have neither a voice nor speech recognition. */
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
/** Speech recognition codes that differ from the voice codes. */
const recognitionLanguages: Partial<Record<Language, string>> = { pa: 'pa-Guru-IN' }

export function hasVoice(language: Language): boolean {
  return voices[language] !== undefined
}

/** Silence after which the question is repeated once. */
const SILENCE_TIMEOUT_SECONDS = 7
/** Keys with a fixed meaning, used if the options fit on the remaining keys. */
const REPEAT_KEY = '9'
const STOP_KEY = '0'
const MAX_SINGLE_KEY_CHOICES = 8

/**
 * Returns the TwiML for the next turn of a call: the prompts and the question with its keys. After silence, the question is
 * repeated once, then the call ends. `action` is the URL that receives the answer.
 */
export function turnTwiml(turn: CallTurn, action: string): string {
  const { greeting, prompts, isOver } = turn
  const language = hasVoice(turn.language) ? turn.language : 'en'
  const question = isOver ? undefined : questionIn(prompts)
  const spokenTexts = [
    ...(greeting ? [greeting] : []),
    ...(question ? prompts.slice(0, -1) : prompts).map(({ text }) => text),
  ]
  const goodbye = `${sayVerb(prompt('call_goodbye', language), language)}<Hangup/>`
  if (!question) return twimlResponse(`${spokenTexts.map((text) => sayVerb(text, language)).join('')}${goodbye}`)
  const gather = gatherVerb(withSpokenChoices(question), language, action, greeting !== undefined)
  return twimlResponse(`${spokenTexts.map((text) => sayVerb(text, language)).join('')}${gather}${gather}${goodbye}`)
}

/** Returns the question without the choices that are languages without a voice. */
function withSpokenChoices(question: RenderedPrompt): RenderedPrompt {
  return { ...question, choices: question.choices.filter(({ value }) => value !== 'or' && value !== 'as') }
}

function gatherVerb(question: RenderedPrompt, language: Language, action: string, isFirstTurn: boolean): string {
  const { kind, choices } = question
  const useSingleKeys = choices.length <= MAX_SINGLE_KEY_CHOICES
  const keyInstructions = choices.map(({ label }, index) => {
    if (index === 0 && label === prompt('yes', language)) return prompt('press_1', language)
    if (index === 1 && label === prompt('no', language)) return prompt('press_2', language)
    return prompt('press_option', language, { option: label, number: String(index + 1) })
  })
  const spokenTexts = [
    question.text,
    ...(kind === 'words' ? [prompt('speak_now', language)] : []),
    ...keyInstructions,
    ...(useSingleKeys ? [prompt('press_repeat', language)] : []),
    ...(isFirstTurn ? [prompt('press_stop', language)] : []),
  ]
  const attributes = {
    input: 'dtmf speech',
    language: recognitionLanguages[language] ?? voices[language]!,
    timeout: String(SILENCE_TIMEOUT_SECONDS),
    speechTimeout: 'auto',
    // Two digits if one is not enough for every option; Twilio waits for the second digit or #.
    numDigits: useSingleKeys ? '1' : '2',
    action,
    method: 'POST',
  }
  const attributeText = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
  return `<Gather${attributeText.join('')}>${spokenTexts.map((text) => sayVerb(text, language)).join('')}</Gather>`
}

/** Returns the meaning of pressed keys for a question. */
export function keyMeaning(
  question: RenderedPrompt,
  digits: string,
): { value: string } | 'repeat' | 'stop' | undefined {
  const { choices } = withSpokenChoices(question)
  if (digits === STOP_KEY) return 'stop'
  const choice = choices[Number(digits) - 1]
  if (choice) return { value: choice.value }
  return digits === REPEAT_KEY ? 'repeat' : undefined
}

function sayVerb(text: string, language: Language): string {
  const voice = voices[language]!
  return `<Say language="${voice}" voice="Google.${voice}-Standard-A">${escapeXml(text)}</Say>`
}

function twimlResponse(verbs: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`
}

/** TwiML that ends unknown calls and calls that cannot continue. */
export const hangUpTwiml = twimlResponse('<Hangup/>')
export const emptyTwiml = twimlResponse('')

function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (mark) => `&#${mark.codePointAt(0)};`)
}
