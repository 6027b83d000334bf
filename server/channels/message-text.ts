import type { Rendered } from '../conversation/render.ts'
import { prompt } from '../questions/prompts.ts'
import type { Outgoing } from './channel.ts'

/** The question that a message ends with, where it asks something. */
export function questionIn(prompts: Rendered[]): Rendered | undefined {
  const last = prompts.at(-1)
  return last?.kind === 'notice' ? undefined : last
}

/** Everything that is said, without the ways to answer. */
export function saidIn({ prompts }: Pick<Outgoing, 'prompts'>): string {
  return prompts.map(({ text }) => text).join('\n\n')
}

export function linkLine({ language, link }: Pick<Outgoing, 'language' | 'link'>): string {
  return prompt('link', language, { link })
}

/** The options with a number each, which is how they are answered where there are no buttons. */
export function numbered(question: Rendered | undefined): string {
  if (!question || question.choices.length === 0) return ''
  // A question for words may be answered by a number: what else there is stands without one.
  if (question.kind === 'words') return question.choices.map(({ label }) => `• ${label}`).join('\n')
  return question.choices.map(({ label }, index) => `${index + 1}. ${label}`).join('\n')
}

/** A message for people who can only write back. The link stays whole; what is too long for the channel is cut before it. */
export function plainText(message: Pick<Outgoing, 'prompts' | 'language' | 'link'>, most: number): string {
  const question = questionIn(message.prompts)
  const options = numbered(question)
  const how = question && options && question.kind !== 'words' ? prompt('choose_number', message.language) : ''
  const end = [options, how, linkLine(message)].filter(Boolean).join('\n')
  return `${cut(saidIn(message), most - end.length - 2)}\n\n${end}`
}

/** At most so many UTF-16 units, never half a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const letters = [...new Intl.Segmenter().segment(text.slice(0, Math.max(0, most - 1)))].map(({ segment }) => segment)
  return `${(letters.length > 1 ? letters.slice(0, -1) : letters).join('')}…`
}

/** What a reply in words chooses: an option's number, or the option itself. */
export function choiceIn(question: Rendered | undefined, text: string): string | undefined {
  if (!question) return undefined
  const said = plain(text)
  const named = question.choices.find(({ label }) => plain(label) === said)
  if (named) return named.value
  const number = question.kind === 'words' ? undefined : /^\(?(\d{1,2})[).]?$/.exec(text.trim())?.[1]
  return number === undefined ? undefined : question.choices[Number(number) - 1]?.value
}

function plain(text: string) {
  return text.normalize('NFC').trim().toLocaleLowerCase()
}

/** Longer texts are cut: nobody writes them on a phone. */
const LONGEST_REPLY = 4096

/** What came from outside, without what no database keeps. */
export function storable(text: string): string {
  return text.slice(0, LONGEST_REPLY).toWellFormed().replaceAll('\0', '')
}

/** What a button carries: the step that it answers, and the answer. */
export function buttonId(step: number, value: string): string {
  return `${step}:${value}`
}

export function readButtonId(id: string): { step: number; value: string } | undefined {
  const [, step, value] = /^(\d{1,9}):([a-z0-9_]{1,20})$/.exec(id) ?? []
  return step === undefined ? undefined : { step: Number(step), value: value! }
}
