import type { RenderedPrompt } from '../conversation/render.ts'
import { noticeText } from '../notices/notice.ts'
import { toAsciiDigits } from '../platform/text/ascii-digits.ts'
import { prompt } from '../questions/prompts.ts'
import type { OutgoingMessage } from './channel.ts'

/** Returns the question at the end of a message, if any. */
export function questionIn(prompts: RenderedPrompt[]): RenderedPrompt | undefined {
  const lastPrompt = prompts.at(-1)
  return lastPrompt?.kind === 'notice' ? undefined : lastPrompt
}

/** Returns the text of all prompts, without the options. */
export function promptText({ prompts }: Pick<OutgoingMessage, 'prompts'>): string {
  return prompts.map(({ text }) => text).join('\n\n')
}

export function linkLine({ language, link }: Pick<OutgoingMessage, 'language' | 'link'>): string {
  return prompt('link', language, { link })
}

/** Returns the line with the link to the notice about personal data. The first message contains it, and every email. */
export function noticeLine({ language, link }: Pick<OutgoingMessage, 'language' | 'link'>): string {
  return `${noticeText(language, 'link')}: ${link}/data`
}

/** Returns the links at the end of a message. */
export function linkLines(message: Pick<OutgoingMessage, 'language' | 'link' | 'followUpNumber'>): string {
  return message.followUpNumber === 0 ? `${linkLine(message)}\n${noticeLine(message)}` : linkLine(message)
}

/** Lists the options with numbers, for channels without buttons. */
export function numberedOptions(question: RenderedPrompt | undefined): string {
  if (!question || question.choices.length === 0) return ''
  // An answer to an open question may itself be a number, so its other options are not numbered.
  if (question.kind === 'words') return question.choices.map(({ label }) => `• ${label}`).join('\n')
  return question.choices.map(({ label }, index) => `${index + 1}. ${label}`).join('\n')
}

/** Returns whether a message contains a confirmation code. It is sent without links, because it asks no question. */
export function hasCode({ prompts }: Pick<OutgoingMessage, 'prompts'>): boolean {
  return prompts.some(({ isCode }) => isCode)
}

/** Formats a message for channels without buttons. Text that is too long is truncated; the links are never truncated. */
export function plainText(
  message: Pick<OutgoingMessage, 'prompts' | 'language' | 'link' | 'followUpNumber'>,
  maxLength: number,
): string {
  if (hasCode(message)) return truncate(promptText(message), maxLength)
  const question = questionIn(message.prompts)
  const options = numberedOptions(question)
  const instruction = question && options && question.kind !== 'words' ? prompt('choose_number', message.language) : ''
  const ending = [options, instruction, linkLines(message)].filter(Boolean).join('\n')
  return `${truncate(promptText(message), maxLength - ending.length - 2)}\n\n${ending}`
}

/** Truncates to `maxLength` UTF-16 code units without splitting a character. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const characters = [...new Intl.Segmenter().segment(text.slice(0, Math.max(0, maxLength - 1)))].map(
    ({ segment }) => segment,
  )
  return `${(characters.length > 1 ? characters.slice(0, -1) : characters).join('')}…`
}

/**
 * Returns whether the label of an option is also the number of an option. Such options are always shown with their numbers, so that a
 * reply with a number means the same on all channels.
 */
export function isOptionNumber(label: string, { choices }: RenderedPrompt): boolean {
  const optionNumber = parseOptionNumber(label)
  return optionNumber !== undefined && optionNumber >= 1 && optionNumber <= choices.length
}

/** Returns the number in a text such as `2`, `(2)`, `2.` or `२`. */
function parseOptionNumber(text: string): number | undefined {
  const digits = /^\(?(\d{1,2})[).]?$/.exec(normalize(text))?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Returns the value of the option that a text reply names by its number or label. A number comes first: the message asks for it. */
export function matchChoice(question: RenderedPrompt | undefined, text: string): string | undefined {
  if (!question) return undefined
  const reply = normalize(text)
  const optionNumber = question.kind === 'words' ? undefined : parseOptionNumber(text)
  const numberedOption = optionNumber === undefined ? undefined : question.choices[optionNumber - 1]
  return (numberedOption ?? question.choices.find(({ label }) => normalize(label) === reply))?.value
}

function normalize(text: string) {
  return toAsciiDigits(text).trim().toLocaleLowerCase()
}

/** Whether an SMS can be sent without Unicode, which halves its length. */
export function isAsciiText(text: string): boolean {
  return /^[\n\x20-\x7e]*$/.test(text)
}

/** UTF-16 code units; longer replies are truncated. */
const MAX_REPLY_LENGTH = 4096

/** Truncates a candidate's text and removes characters that PostgreSQL cannot store. */
export function toStorableText(text: string): string {
  return text.slice(0, MAX_REPLY_LENGTH).toWellFormed().replaceAll('\0', '')
}

/** Encodes the step and the answer in a button ID. */
export function buttonId(step: number, value: string): string {
  return `${step}:${value}`
}

export function readButtonId(id: string): { step: number; value: string } | undefined {
  const [, step, value] = /^(\d{1,9}):([a-z0-9_]{1,20})$/.exec(id) ?? []
  return step === undefined ? undefined : { step: Number(step), value: value! }
}
