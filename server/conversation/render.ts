import { prompt } from '../questions/prompts.ts'
import type { Language } from '../questions/questions.ts'
import type { Prompt } from './conversation.ts'
import { type ConversationFlow, inLanguage, questionsOf } from './flow.ts'

/** A prompt in words. Nothing in it tells which answer is right. */
export interface Rendered {
  /** The step that a reply answers. */
  step: number
  kind: 'notice' | 'yes_no' | 'choices' | 'words'
  text: string
  choices: { value: string; label: string }[]
}

export interface Person {
  name: string
}

export function render(said: Prompt, language: Language, flow: ConversationFlow, { name }: Person): Rendered {
  const { step, point } = said
  const values = { name, company: flow.company_name, title: flow.title }
  const notice = (text: string): Rendered => ({ step, kind: 'notice', text, choices: [] })
  const yesNo = (text: string, choices = yesOrNo(language)): Rendered => ({ step, kind: 'yes_no', text, choices })
  switch (said.say) {
    case 'consent':
      return yesNo(prompt('consent', language, { ...values, minutes: String(minutesFor(flow)) }))
    case 'language': {
      const choices = flow.languages.map((code) => ({ value: code, label: prompt('language_name', code) }))
      return { step, kind: 'choices', text: prompt('language_choice', language), choices }
    }
    case 'enrichment': {
      const { text, type, required } = flow.enrichment[(point as { question: number }).question]!
      const skip = required ? [] : [{ value: 'skip', label: prompt('skip', language) }]
      const question = inLanguage(text, language)
      if (type === 'yes_no') return yesNo(question, [...yesOrNo(language), ...skip])
      return { step, kind: 'words', text: `${question}\n${prompt('own_words', language)}`, choices: skip }
    }
    case 'skills_intro':
      return notice(prompt('skills_intro', language, values))
    case 'skills': {
      const { skill, item } = point as { skill: number; item: number }
      const { stem, options } = inLanguage(flow.skills[skill]!.items[item]!.text, language)
      const choices = options.map((label, value) => ({ value: String(value), label }))
      // The stems of one skill follow each other: its name is said once.
      const about = item === 0 ? `${prompt('skill_intro', language, { skill: flow.skills[skill]!.name })}\n` : ''
      return { step, kind: 'choices', text: `${about}${stem}`, choices }
    }
    case 'interest':
      return yesNo(prompt('interest', language, values))
    default:
      return notice(prompt(said.say, language, values))
  }
}

/** What a follow-up says before it asks again. */
export function renderFollowUp(
  number: number,
  step: number,
  language: Language,
  flow: ConversationFlow,
  { name }: Person,
) {
  const values = { name, company: flow.company_name, title: flow.title }
  const text = prompt(`follow_up_${number as 1 | 2 | 3 | 4 | 5}`, language, values)
  return { step, kind: 'notice', text, choices: [] } satisfies Rendered
}

/** A question takes about twenty seconds. Two at least, with consent and language; the texts speak of minutes, not of one. */
function minutesFor(flow: ConversationFlow) {
  return Math.max(2, Math.ceil(questionsOf(flow).length / 3))
}

function yesOrNo(language: Language) {
  return [
    { value: 'yes', label: prompt('yes', language) },
    { value: 'no', label: prompt('no', language) },
  ]
}
