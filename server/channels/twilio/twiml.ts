import type { RenderedPrompt } from '../../conversation/render.ts'
import type { Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import { keyInstructions, maxKeys, spokenQuestion } from '../call-keys.ts'
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

/** The languages that Twilio speaks. */
export const TWILIO_LANGUAGES = Object.keys(voices) as Language[]

export function hasVoice(language: Language): boolean {
  return voices[language] !== undefined
}

/** Silence after which the question is repeated once. */
const SILENCE_TIMEOUT_SECONDS = 7

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
  const gather = gatherVerb(spokenQuestion(question, TWILIO_LANGUAGES), language, action, greeting !== undefined)
  return twimlResponse(`${spokenTexts.map((text) => sayVerb(text, language)).join('')}${gather}${gather}${goodbye}`)
}

function gatherVerb(question: RenderedPrompt, language: Language, action: string, isFirstTurn: boolean): string {
  const spokenTexts = [
    question.text,
    ...(question.kind === 'words' ? [prompt('speak_now', language)] : []),
    ...keyInstructions(question, language, isFirstTurn),
  ]
  const attributes = {
    input: 'dtmf speech',
    language: recognitionLanguages[language] ?? voices[language]!,
    timeout: String(SILENCE_TIMEOUT_SECONDS),
    speechTimeout: 'auto',
    // If there are two digits, Twilio waits for the second digit or #.
    numDigits: String(maxKeys(question)),
    action,
    method: 'POST',
  }
  const attributeText = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
  return `<Gather${attributeText.join('')}>${spokenTexts.map((text) => sayVerb(text, language)).join('')}</Gather>`
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
