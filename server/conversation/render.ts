import type { Language } from '../platform/text/languages.ts'
import { prompt } from '../questions/prompts.ts'
import type { Prompt } from './conversation.ts'
import { type ConversationFlow, inLanguage } from './flow.ts'
import { shownItem } from './skill-form.ts'
import type { ConversationState } from './state.ts'
import { expectedQuestionCount } from './verdicts.ts'

/** A prompt as text in one language. It never reveals which answer is correct. */
export interface RenderedPrompt {
  /** Step of the question. Replies that contain a different step are ignored. */
  step: number
  kind: 'notice' | 'yes_no' | 'choices' | 'words'
  text: string
  choices: { value: string; label: string }[]
  /** True for a confirmation code, which only the candidate may read. */
  isCode?: boolean
  /** The confirmation code in the text. */
  code?: string
}

export interface Recipient {
  name: string
}

/**
 * How a prompt reaches the candidate. In a text message or on the candidate's page, a reply of STOP opts out. In a text message, BACK
 * changes the last answer; the page has a button for it. Replies to emails are not read, and calls name a key to press: both have their
 * own words.
 */
export type Medium = 'text' | 'page' | 'email' | 'call'

export function render(
  promptToRender: Prompt,
  state: ConversationState,
  flow: ConversationFlow,
  { name }: Recipient,
  medium: Medium = 'text',
): RenderedPrompt {
  const { step, point } = promptToRender
  const { language } = state
  const values = { name, company: flow.company_name, title: flow.title }
  const notice = (text: string): RenderedPrompt => ({ step, kind: 'notice', text, choices: [] })
  const yesNo = (text: string, choices = yesNoChoices(language)): RenderedPrompt => ({
    step,
    kind: 'yes_no',
    text,
    choices,
  })
  switch (promptToRender.kind) {
    case 'consent': {
      const question = prompt('consent', language, { ...values, minutes: String(estimateMinutes(flow)) })
      const canReplyStop = medium === 'text' || medium === 'page'
      return yesNo(canReplyStop ? `${question} ${prompt('reply_stop', language)}` : question, [
        { value: 'yes', label: prompt('consent_yes', language) },
        { value: 'no', label: prompt('consent_no', language) },
        { value: 'later', label: prompt('not_now', language) },
      ])
    }
    case 'language': {
      const choices = flow.languages.map((code) => ({ value: code, label: prompt('language_name', code) }))
      return { step, kind: 'choices', text: prompt('language_choice', language), choices }
    }
    case 'enrichment': {
      const { text, type, required } = flow.enrichment[(point as { question: number }).question]!
      const skipChoices = required ? [] : [{ value: 'skip', label: prompt('skip', language) }]
      const question = inLanguage(text, language)
      if (type === 'yes_no') return yesNo(question, [...yesNoChoices(language), ...skipChoices])
      return { step, kind: 'words', text: `${question}\n${prompt('own_words', language)}`, choices: skipChoices }
    }
    case 'skill_language': {
      const { name: skill, languages } = flow.skills[(point as { skill: number }).skill]!
      const choices = languages.map((code) => ({ value: code, label: prompt('language_name', code) }))
      const text = prompt('skill_language', language, {
        skill,
        language: prompt('language_name', language),
      })
      return { step, kind: 'choices', text, choices }
    }
    case 'skills_intro': {
      const intro = prompt('skills_intro', language, values)
      return notice(medium === 'text' ? `${intro} ${prompt('back_hint', language)}` : intro)
    }
    case 'skills': {
      const { skill, item } = point as { skill: number; item: number }
      const { stem, options } = shownItem(state, flow, { at: 'skills', skill, item })
      const choices = options.map((label, value) => ({ value: String(value), label }))
      // The questions of one skill are consecutive, so only the first one names the skill.
      const skillIntro = item === 0 ? `${prompt('skill_intro', language, { skill: flow.skills[skill]!.name })}\n` : ''
      return { step, kind: 'choices', text: `${skillIntro}${stem}`, choices }
    }
    case 'later': {
      const choices = (['today', 'tomorrow', 'never'] as const).map((value) => ({
        value,
        label: prompt(`later_${value}`, language),
      }))
      return { step, kind: 'choices', text: prompt('later', language), choices }
    }
    case 'interest':
      return yesNo(prompt('interest', language, values))
    default:
      return notice(prompt(promptToRender.kind, language, values))
  }
}

/** Renders the opening of a follow-up, or of the contact that the candidate asked for. It is followed by the current question. */
export function renderFollowUp(
  followUp: number | 'requested',
  step: number,
  language: Language,
  flow: ConversationFlow,
  { name }: Recipient,
) {
  const values = { name, company: flow.company_name, title: flow.title }
  const text = prompt(`follow_up_${followUp as 1 | 2 | 3 | 4 | 5 | 'requested'}`, language, values)
  return { step, kind: 'notice', text, choices: [] } satisfies RenderedPrompt
}

/** Estimates 20 seconds per question; at least 2 minutes, because of consent and language, and because the texts say "minutes". */
export function estimateMinutes(flow: ConversationFlow) {
  return Math.max(2, Math.ceil(expectedQuestionCount(flow) / 3))
}

function yesNoChoices(language: Language) {
  return [
    { value: 'yes', label: prompt('yes', language) },
    { value: 'no', label: prompt('no', language) },
  ]
}
