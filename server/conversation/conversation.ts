import type { Language } from '../questions/questions.ts'
import { type ConversationFlow, type Point, questionsOf } from './flow.ts'
import { type Input, type Meaning, meaningOf } from './reply-meaning.ts'

/** How a conversation ended. */
export type Ending = 'completed' | 'knocked_out' | 'not_interested' | 'refused' | 'stopped'

/** All that is known of a candidate's conversation. Plain data: kept as JSON, the same for every channel. */
export interface State {
  /** Counts the questions that were put. A reply that names another step than this one does nothing. */
  step: number
  point: Point
  language: Language
  /** The candidate chose the language, or came with it: it is not asked for any more. */
  languageKnown: boolean
  /** Replies to this question that were not understood. */
  misses: number
  /** By question; null where an optional one was passed over. */
  enrichment: (string | null)[]
  /** The options chosen, by skill and item. */
  skills: number[][]
  interest: boolean | null
  ending: Ending | null
}

/** What is to be said next; `render` puts it into words. */
export type Saying =
  | 'consent'
  | 'language'
  | 'enrichment'
  | 'skills_intro'
  | 'skills'
  | 'interest'
  | 'not_understood'
  | 'thanks_completed'
  | 'thanks_knocked_out'
  | 'thanks_not_interested'
  | 'thanks_refused'
  | 'thanks_stopped'

export interface Prompt {
  say: Saying
  /** The step that a reply to it answers. */
  step: number
  point: Point
}

export interface Outcome {
  state: State
  prompts: Prompt[]
  /** Set in the step that ends the conversation. */
  ending?: Ending
  /** The reply was a STOP, which holds also after the conversation has ended. */
  stop: boolean
}

/** More unknown replies to one question than this are met with silence: two machines must not talk for ever. */
export const MOST_MISSES = 3

/** `given` where the candidate's language came with the enrolment. */
export function begin(language: Language, given: boolean): State {
  const point: Point = { at: 'consent' }
  return {
    step: 1,
    point,
    language,
    languageKnown: given,
    misses: 0,
    enrichment: [],
    skills: [],
    interest: null,
    ending: null,
  }
}

type Move = (state: State, flow: ConversationFlow, meaning: Meaning) => { state: State; prompts: Prompt[] }

/**
 * The whole conversation. A row is where the candidate stands, a column what the reply means there; what a row lacks is looked
 * up in `anywhere`. Silence is no input: the question stands, and whoever comes back is asked it again (`asking`).
 */
// biome-ignore format: a table reads best in columns
const table: Record<Point['at'], Partial<Record<Meaning['is'], Move>>> = {
  //            yes                      no                        else
  consent:    { yes: afterConsent,       no: end('refused') },
  language:   {                                                    language: chooseLanguage },
  enrichment: { yes: answerQuestion,     no: answerQuestion,       words: answerQuestion, skip: passQuestion, back: askBefore },
  skills:     {                                                    choice: answerItem, back: askBefore },
  interest:   { yes: answerInterest,     no: answerInterest },
  ended:      { stop: stay, repeat: stay, unknown: stay, language: speak },
}

const anywhere: Record<Meaning['is'], Move> = {
  stale: stay, // a reply to an earlier question, or the same reply once more
  stop: end('stopped'),
  language: switchLanguage,
  repeat: askAgain,
  back: askAgain, // where there is nothing to go back to
  unknown: notUnderstood,
  yes: notUnderstood,
  no: notUnderstood,
  choice: notUnderstood,
  words: notUnderstood,
  skip: notUnderstood,
}

/** One reply. The same state, flow and input always give the same outcome. */
export function step(state: State, flow: ConversationFlow, input: Input): Outcome {
  const meaning = meaningOf(state, flow, input)
  const move = table[state.point.at][meaning.is] ?? (state.point.at === 'ended' ? stay : anywhere[meaning.is])
  const moved = move(state, flow, meaning)
  const ended = state.ending === null && moved.state.ending !== null
  return { ...moved, stop: meaning.is === 'stop', ...(ended ? { ending: moved.state.ending! } : {}) }
}

/** What to say to somebody who is contacted, comes back or asks again: where the conversation stands. */
export function asking(state: State, flow: ConversationFlow): Prompt[] {
  const { point, step } = state
  if (point.at === 'ended') return [{ say: `thanks_${state.ending!}`, step, point }]
  const intro = isFirstItem(point) && flow.skills.length > 0
  const question: Prompt = { say: point.at, step, point }
  return intro ? [{ say: 'skills_intro', step, point }, question] : [question]
}

function isFirstItem(point: Point) {
  return point.at === 'skills' && point.skill === 0 && point.item === 0
}

function stay(state: State) {
  return { state, prompts: [] }
}

function askAgain(state: State, flow: ConversationFlow) {
  return { state, prompts: asking(state, flow) }
}

function notUnderstood(state: State, flow: ConversationFlow) {
  if (state.misses === MOST_MISSES) return stay(state)
  const next = { ...state, misses: state.misses + 1 }
  const sorry: Prompt = { say: 'not_understood', step: state.step, point: state.point }
  return { state: next, prompts: [sorry, ...asking(next, flow).slice(-1)] }
}

/** To the next question, or to the end where there is none. */
function goOn(state: State, flow: ConversationFlow) {
  const questions = questionsOf(flow)
  const at = questions.findIndex((point) => same(point, state.point))
  const next = questions[at + 1] // the first one after consent and language, which are not among them
  return next ? put(state, flow, next) : end('completed')(state, flow)
}

function put(state: State, flow: ConversationFlow, point: Point) {
  const next = { ...state, point, step: state.step + 1, misses: 0 }
  return { state: next, prompts: asking(next, flow) }
}

function end(ending: Ending): (state: State, flow: ConversationFlow) => { state: State; prompts: Prompt[] } {
  return (state, flow) => {
    const next: State = { ...state, point: { at: 'ended' }, step: state.step + 1, misses: 0, ending }
    return { state: next, prompts: asking(next, flow) }
  }
}

function same(a: Point, b: Point) {
  return JSON.stringify(a) === JSON.stringify(b)
}

function afterConsent(state: State, flow: ConversationFlow) {
  return flow.languages.length > 1 && !state.languageKnown ? put(state, flow, { at: 'language' }) : goOn(state, flow)
}

function chooseLanguage(state: State, flow: ConversationFlow, meaning: Meaning) {
  return goOn(speaking(state, meaning), flow)
}

/** The question that stands is put again, in the other language; its step stays, so that the answer still counts. */
function switchLanguage(state: State, flow: ConversationFlow, meaning: Meaning) {
  return askAgain(speaking(state, meaning), flow)
}

function speak(state: State, _flow: ConversationFlow, meaning: Meaning) {
  return stay(speaking(state, meaning))
}

function speaking(state: State, meaning: Meaning): State {
  return { ...state, language: (meaning as { language: Language }).language, languageKnown: true }
}

function answerQuestion(state: State, flow: ConversationFlow, meaning: Meaning) {
  const { question } = state.point as { question: number }
  const answer = meaning.is === 'words' ? meaning.words : meaning.is
  const enrichment = [...state.enrichment.slice(0, question), answer]
  const next = { ...state, enrichment }
  return flow.enrichment[question]!.knockout === answer ? end('knocked_out')(next, flow) : goOn(next, flow)
}

function passQuestion(state: State, flow: ConversationFlow) {
  const { question } = state.point as { question: number }
  return goOn({ ...state, enrichment: [...state.enrichment.slice(0, question), null] }, flow)
}

/** A correction: the question before is put again, and its answer forgotten. Answers about skills stand. */
function askBefore(state: State, flow: ConversationFlow) {
  const { point } = state
  const before =
    point.at === 'enrichment' ? point.question - 1 : isFirstItem(point) ? state.enrichment.length - 1 : undefined
  if (before === undefined || before < 0) return askAgain(state, flow)
  const next = { ...state, enrichment: state.enrichment.slice(0, before) }
  return put(next, flow, { at: 'enrichment', question: before })
}

function answerItem(state: State, flow: ConversationFlow, meaning: Meaning) {
  const { skill } = state.point as { skill: number }
  const skills = [...state.skills]
  skills[skill] = [...(skills[skill] ?? []), (meaning as { choice: number }).choice]
  return goOn({ ...state, skills }, flow)
}

function answerInterest(state: State, flow: ConversationFlow, meaning: Meaning) {
  const interest = meaning.is === 'yes'
  return end(interest ? 'completed' : 'not_interested')({ ...state, interest }, flow)
}
