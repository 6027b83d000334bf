import { asking, type Prompt } from '../../conversation/conversation.ts'
import { type Rendered, render } from '../../conversation/render.ts'
import { aheadOf, canGoBack, nameOf } from '../../conversation/upcoming-questions.ts'
import { progressOf } from '../../conversation/verdicts.ts'
import type { Queries } from '../../platform/database/database.ts'
import { prompt } from '../../questions/prompts.ts'
import type { Language } from '../../questions/questions.ts'
import type { Candidacy } from '../candidacy.ts'
import { listMessages, type Message } from '../contact/messages.ts'
import { pageLabels } from './page-labels.ts'

/** What the candidate's page shows: where the conversation stands and what was said. No answer to any question is in it. */
export async function candidateView(tx: Queries, candidate: Candidacy) {
  const { state, flow, name } = candidate
  return {
    name,
    company: flow.company_name,
    title: flow.title,
    languages: flow.languages.map((code) => ({ code, name: prompt('language_name', code) })),
    labels: pageLabels(state.language),
    ...candidateTurn(candidate),
    past: pastOf(await listMessages(tx, candidate.candidate_id), state.step, state.language),
  }
}

/** What changes with a reply; of the questions ahead those beyond the step that the page has. */
export function candidateTurn(candidate: Candidacy, have = 0) {
  const { state, flow, status } = candidate
  const { language } = state
  const over = status !== 'pending'
  const closed = over && state.ending === null // given up or stopped from our side
  const put = (said: Prompt) => ({
    ...render(said, language, flow, candidate),
    ask: nameOf(said.point),
    back: canGoBack(said.point, flow),
  })
  return {
    language,
    step: state.step,
    progress: progressOf(state, flow),
    /** `open`; `ended` by the candidate, who got a thank-you; `closed` by the campaign. */
    status: closed ? 'closed' : over ? 'ended' : 'open',
    ending: state.ending,
    /** What stands to be answered, or the last words. */
    prompts: closed ? [notice(state.step, prompt('expired', language))] : asking(state, flow).map(put),
    ahead: over
      ? []
      : aheadOf(state, flow)
          .filter(({ step }) => step > have)
          .map(put),
  }
}

function notice(step: number, text: string) {
  return { step, kind: 'notice' as const, text, choices: [], ask: 'ended', back: false }
}

interface Exchange {
  asked: string
  answer: string
}

/**
 * Each question before this step with its answer. A question that was put several times, by follow-ups or in another language,
 * appears once, as it was put last; one whose answer was taken back appears where it was answered again.
 */
function pastOf(messages: Message[], step: number, language: Language): Exchange[] {
  const steps = new Map<number, { asked: string; answer: string | null; choices: Rendered['choices'] }>()
  for (const { content, conversation_step: at } of messages) {
    if (at >= step) continue
    const exchange = steps.get(at) ?? { asked: '', answer: null, choices: [] }
    steps.set(at, exchange)
    if (Array.isArray(content)) {
      const questions = content.filter(({ kind }) => kind !== 'notice')
      if (questions.length === 0) continue
      exchange.asked = questions.map(({ text }) => text).join('\n')
      exchange.choices = questions.flatMap(({ choices }) => choices)
    } else if (content.value === 'back') {
      steps.delete(at)
      steps.delete([...steps.keys()].at(-1) ?? at)
    } else {
      exchange.answer = content.text ?? labelOf(content.value ?? '', exchange.choices, language)
    }
  }
  return [...steps.values()].flatMap(({ asked, answer }) => (answer === null ? [] : [{ asked, answer }]))
}

/** What the button said that was pressed; null for one that answers nothing. */
function labelOf(value: string, choices: Rendered['choices'], language: Language): string | null {
  const chosen = choices.find((choice) => choice.value === value)
  if (chosen) return chosen.label
  return value === 'yes' || value === 'no' ? prompt(value, language) : null
}
