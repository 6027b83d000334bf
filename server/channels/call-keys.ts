import type { RenderedPrompt } from '../conversation/render.ts'
import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import { prompt } from '../questions/prompts.ts'

/** Keys with a fixed meaning, used if the options fit on the remaining keys. */
const REPEAT_KEY = '9'
const STOP_KEY = '0'
const MAX_SINGLE_KEY_CHOICES = 8

/** Returns the question without the choices that are languages which the voice does not speak. */
export function spokenQuestion(question: RenderedPrompt, spokenLanguages: readonly Language[]): RenderedPrompt {
  const unspokenLanguages: readonly string[] = LANGUAGES.filter((language) => !spokenLanguages.includes(language))
  return { ...question, choices: question.choices.filter(({ value }) => !unspokenLanguages.includes(value)) }
}

/** Returns how many keys an answer has at most: two if there are more options than single keys. */
export function maxKeys({ choices }: RenderedPrompt): number {
  return choices.length <= MAX_SINGLE_KEY_CHOICES ? 1 : 2
}

/** Returns the sentences that name the key of each choice. */
export function keyInstructions(question: RenderedPrompt, language: Language, isFirstTurn: boolean): string[] {
  const instructions = question.choices.map(({ label }, index) => {
    if (index === 0 && label === prompt('yes', language)) return prompt('press_1', language)
    if (index === 1 && label === prompt('no', language)) return prompt('press_2', language)
    return prompt('press_option', language, { option: label, number: String(index + 1) })
  })
  return [
    ...instructions,
    ...(maxKeys(question) === 1 ? [prompt('press_repeat', language)] : []),
    ...(isFirstTurn ? [prompt('press_stop', language)] : []),
  ]
}

/** Returns the meaning of pressed keys for a spoken question. */
export function keyMeaning(
  { choices }: RenderedPrompt,
  digits: string,
): { value: string } | 'repeat' | 'stop' | undefined {
  if (digits === STOP_KEY) return 'stop'
  const choice = choices[Number(digits) - 1]
  if (choice) return { value: choice.value }
  return digits === REPEAT_KEY ? 'repeat' : undefined
}
