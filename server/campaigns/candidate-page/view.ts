import { findBrand } from '../../branding/branding.ts'
import { pageBrand } from '../../branding/schema.ts'
import { currentPrompts, type Prompt } from '../../conversation/conversation.ts'
import { type RenderedPrompt, render } from '../../conversation/render.ts'
import { canGoBack, questionId, upcomingPrompts } from '../../conversation/upcoming-questions.ts'
import { progressOf } from '../../conversation/verdicts.ts'
import type { Queries } from '../../platform/database/database.ts'
import type { Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import type { Candidacy } from '../candidacy.ts'
import { type CandidateMessage, listMessages } from '../contact/messages.ts'
import { contactNotice } from '../contact/requested-contacts.ts'
import { pageLabels } from './page-labels.ts'

/** Returns the data of the candidate's page: the current question and the history, without correct answers. */
export async function candidateView(tx: Queries, candidate: Candidacy, now: number) {
  const { state, flow, name, org_id } = candidate
  const brand = await findBrand(tx, org_id)
  return {
    name,
    company: flow.company_name,
    title: flow.title,
    ...(brand ? { brand: pageBrand(brand) } : {}),
    languages: flow.languages.map((code) => ({ code, name: prompt('language_name', code) })),
    labels: pageLabels(state.language),
    ...candidateTurn(candidate, now),
    past: answeredQuestions(await listMessages(tx, candidate.candidate_id), state.step, state.language),
  }
}

/** Returns the data that changes with a reply. Leaves out upcoming questions up to `lastKnownStep`, which the page already has. */
export function candidateTurn(candidate: Candidacy, now: number, lastKnownStep = 0) {
  const { state, flow, status, is_restricted: isRestricted } = candidate
  const { language } = state
  const isOver = status !== 'pending'
  const isClosed = isOver && state.ending === null // expired or ended by the campaign
  const toPagePrompt = (source: Prompt) => ({
    ...render(source, state, flow, candidate, 'page'),
    ask: questionId(source.point),
    back: canGoBack(source.point, state, flow),
  })
  return {
    language,
    step: state.step,
    progress: progressOf(state, flow),
    /** `ended`: by the candidate, with a thank-you. `closed`: by the campaign. */
    status: isClosed ? ('closed' as const) : isOver ? ('ended' as const) : ('open' as const),
    ending: state.ending,
    /** The current question, or the closing message. For a restricted person, only that the conversation is paused. */
    prompts: isClosed
      ? [noticePrompt(state.step, prompt('expired', language))]
      : !isOver && isRestricted
        ? [noticePrompt(state.step, prompt('paused', language))] // answers are not stored now
        : [...(isOver ? [] : contactNotice(candidate, now)), ...currentPrompts(state, flow)].map(toPagePrompt),
    ahead:
      isOver || isRestricted
        ? []
        : upcomingPrompts(state, flow)
            .filter(({ step }) => step > lastKnownStep)
            .map(toPagePrompt),
  }
}

function noticePrompt(step: number, text: string) {
  return { step, kind: 'notice' as const, text, choices: [], ask: 'ended', back: false }
}

interface Exchange {
  asked: string
  answer: string
}

/**
 * Returns the questions before this step with their answers. A question that was asked several times, by follow-ups or in another
 * language, appears once, in its last form. If the candidate went back to a question, it appears at the position of the new answer.
 */
function answeredQuestions(messages: CandidateMessage[], step: number, language: Language): Exchange[] {
  const exchangesByStep = new Map<
    number,
    { asked: string; answer: string | null; choices: RenderedPrompt['choices'] }
  >()
  for (const { content, conversation_step: messageStep } of messages) {
    if (messageStep >= step) continue
    const exchange = exchangesByStep.get(messageStep) ?? { asked: '', answer: null, choices: [] }
    exchangesByStep.set(messageStep, exchange)
    if (Array.isArray(content)) {
      const questions = content.filter(({ kind }) => kind !== 'notice')
      if (questions.length === 0) continue
      exchange.asked = questions.map(({ text }) => text).join('\n')
      exchange.choices = questions.flatMap(({ choices }) => choices)
    } else if (content.value === 'back') {
      exchangesByStep.delete(messageStep)
      exchangesByStep.delete([...exchangesByStep.keys()].at(-1) ?? messageStep)
    } else {
      exchange.answer = content.text ?? labelOf(content.value ?? '', exchange.choices, language)
    }
  }
  return [...exchangesByStep.values()].flatMap(({ asked, answer }) => (answer === null ? [] : [{ asked, answer }]))
}

/** Returns the label of a pressed button; null if the button was not an answer. */
function labelOf(value: string, choices: RenderedPrompt['choices'], language: Language): string | null {
  const chosenOption = choices.find((choice) => choice.value === value)
  if (chosenOption) return chosenOption.label
  return value === 'yes' || value === 'no' ? prompt(value, language) : null
}
