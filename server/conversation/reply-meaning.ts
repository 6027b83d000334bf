import { isStop, prompt, readYesNo } from '../questions/prompts.ts'
import type { Language } from '../questions/questions.ts'
import type { State } from './conversation.ts'
import { type ConversationFlow, inLanguage } from './flow.ts'

/** What a channel or the page hands over. */
export type Input =
  /** `value` where a button was pressed, `text` where something was written or said; `step` where the channel knows it. */
  | { kind: 'reply'; step?: number; value?: string; text?: string }
  | { kind: 'language'; language: Language }
  | { kind: 'repeat' }
  | { kind: 'back'; step?: number }
  | { kind: 'stop' }

/** What a reply means where the candidate stands. */
export type Meaning =
  | { is: 'yes' | 'no' | 'skip' | 'back' | 'repeat' | 'stop' | 'stale' | 'unknown' }
  | { is: 'choice'; choice: number }
  | { is: 'words'; words: string }
  | { is: 'language'; language: Language }

/** Code points; what is said beyond them is cut off. */
const MOST_WORDS = 2000

/** STOP is heard everywhere, also as an answer to an old question; then come buttons, then words. */
export function meaningOf(state: State, flow: ConversationFlow, input: Input): Meaning {
  if (input.kind === 'stop') return { is: 'stop' }
  if (input.kind === 'repeat') return { is: 'repeat' }
  if (input.kind === 'language')
    return flow.languages.includes(input.language) ? { is: 'language', language: input.language } : { is: 'unknown' }
  if (input.kind === 'back') return isStale(state, input.step) ? { is: 'stale' } : { is: 'back' }
  const text = input.text?.trim() ?? ''
  if (input.value === 'stop' || isStop(text)) return { is: 'stop' }
  if (isStale(state, input.step)) return { is: 'stale' }
  return input.value === undefined ? spoken(state, flow, text) : pressed(state, flow, input.value)
}

function isStale(state: State, step: number | undefined) {
  return step !== undefined && step !== state.step
}

function pressed(state: State, flow: ConversationFlow, value: string): Meaning {
  const { point } = state
  if (value === 'repeat') return { is: 'repeat' }
  if (value === 'back') return { is: 'back' }
  if (point.at === 'language') return languageNamed(flow, value)
  if (point.at === 'skills') return /^[0-3]$/.test(value) ? { is: 'choice', choice: Number(value) } : { is: 'unknown' }
  if (value === 'skip') return canSkip(state, flow) ? { is: 'skip' } : { is: 'unknown' }
  return (value === 'yes' || value === 'no') && !isVoice(state, flow) ? { is: value } : { is: 'unknown' }
}

function spoken(state: State, flow: ConversationFlow, text: string): Meaning {
  const { point, language } = state
  if (text === '') return { is: 'unknown' }
  if (point.at === 'language') return languageNamed(flow, text)
  if (point.at === 'skills') {
    const { options } = inLanguage(flow.skills[point.skill]!.items[point.item]!.text, language)
    return choiceOf(options, text)
  }
  if (/^skip$/i.test(text) && canSkip(state, flow)) return { is: 'skip' }
  if (isVoice(state, flow)) return { is: 'words', words: [...text].slice(0, MOST_WORDS).join('') }
  // On a keypad and in plain messages 1 is yes and 2 is no.
  const answer = text === '1' ? 'yes' : text === '2' ? 'no' : readYesNo(text, language)
  return answer ? { is: answer } : { is: 'unknown' }
}

function isVoice({ point }: State, flow: ConversationFlow) {
  return point.at === 'enrichment' && flow.enrichment[point.question]!.type === 'voice'
}

function canSkip({ point }: State, flow: ConversationFlow) {
  return point.at === 'enrichment' && !flow.enrichment[point.question]!.required
}

/** By its code, its place in the list, or its name in English or its own words. */
function languageNamed({ languages }: ConversationFlow, text: string): Meaning {
  const said = text.toLocaleLowerCase()
  const language = /^\d{1,2}$/.test(said)
    ? languages[Number(said) - 1]
    : languages.find((code) => code === said || namesOf(code).includes(said))
  return language ? { is: 'language', language } : { is: 'unknown' }
}

const english = new Intl.DisplayNames(['en'], { type: 'language' })

function namesOf(code: Language): string[] {
  return [prompt('language_name', code), english.of(code) ?? code].map((name) => name.toLocaleLowerCase())
}

/** `2`, `b`, `(B)`, or the option itself. */
function choiceOf(options: readonly string[], text: string): Meaning {
  const mark = /^\(?([1-4a-d])[).]?$/i.exec(text)?.[1]?.toLowerCase()
  if (mark !== undefined)
    return { is: 'choice', choice: '1234'.includes(mark) ? Number(mark) - 1 : 'abcd'.indexOf(mark) }
  const choice = options.findIndex((option) => plain(option) === plain(text))
  return choice < 0 ? { is: 'unknown' } : { is: 'choice', choice }
}

function plain(text: string) {
  return text
    .normalize('NFKC')
    .toLocaleLowerCase()
    .replace(/[\s.,;:!?'"’।]+/g, ' ')
    .trim()
}
