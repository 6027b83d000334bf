import type { Language } from '../platform/text/languages.ts'
import { type ConversationFlow, type Point, questionsOf } from './flow.ts'
import { type ConversationInput, meaningOf, type ReplyMeaning } from './reply-meaning.ts'
import type { ConversationState, Ending } from './state.ts'

/** The kinds of prompts; `render` turns them into text. */
type PromptKind =
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
  kind: PromptKind
  /** The step that a reply must name to count. */
  step: number
  point: Point
}

export interface Outcome {
  state: ConversationState
  prompts: Prompt[]
  /** Set by the reply that ends the conversation. */
  ending?: Ending
  /** The reply was an opt-out, which counts even after the conversation has ended. */
  stop: boolean
}

/** Replies to one question that are answered with "not understood". Later ones are ignored, so that two bots cannot loop. */
export const MAX_MISSES = 3

/** Returns the initial state. `languageKnown`: the enrolment names the candidate's language. */
export function startConversation(language: Language, languageKnown: boolean): ConversationState {
  const point: Point = { at: 'consent' }
  return {
    step: 1,
    point,
    language,
    languageKnown,
    misses: 0,
    enrichment: [],
    skills: [],
    interest: null,
    ending: null,
  }
}

type Transition = (
  state: ConversationState,
  flow: ConversationFlow,
  meaning: ReplyMeaning,
) => { state: ConversationState; prompts: Prompt[] }

/**
 * The state machine of the conversation: current point, then meaning of the reply. Missing entries use `defaultTransitions`.
 * Silence is not an input: the question stays open and is repeated when the candidate returns (`currentPrompts`).
 */
// biome-ignore format: aligned columns are easier to read
const transitions: Record<Point['at'], Partial<Record<ReplyMeaning['is'], Transition>>> = {
  //            yes                      no                        else
  consent:    { yes: afterConsent,       no: end('refused') },
  language:   {                                                    language: chooseLanguage },
  enrichment: { yes: answerQuestion,     no: answerQuestion,       words: answerQuestion, skip: skipQuestion, back: askPrevious },
  skills:     {                                                    choice: answerItem, back: askPrevious },
  interest:   { yes: answerInterest,     no: answerInterest },
  ended:      { stop: stay, repeat: stay, unknown: stay, language: setLanguage },
}

const defaultTransitions: Record<ReplyMeaning['is'], Transition> = {
  stale: stay, // a reply to an earlier question, or a duplicate
  stop: end('stopped'),
  language: switchLanguage,
  repeat: repeatQuestion,
  back: repeatQuestion, // there is no previous question
  unknown: notUnderstood,
  yes: notUnderstood,
  no: notUnderstood,
  choice: notUnderstood,
  words: notUnderstood,
  skip: notUnderstood,
}

/** Applies one reply. Pure: the same state, flow and input always return the same outcome. */
export function advance(state: ConversationState, flow: ConversationFlow, input: ConversationInput): Outcome {
  const meaning = meaningOf(state, flow, input)
  const transition =
    transitions[state.point.at][meaning.is] ?? (state.point.at === 'ended' ? stay : defaultTransitions[meaning.is])
  const next = transition(state, flow, meaning)
  const ended = state.ending === null && next.state.ending !== null
  return { ...next, stop: meaning.is === 'stop', ...(ended ? { ending: next.state.ending! } : {}) }
}

/** Returns the prompts for the current question, or the closing message once the conversation has ended. */
export function currentPrompts(state: ConversationState, flow: ConversationFlow): Prompt[] {
  const { point, step } = state
  if (point.at === 'ended') return [{ kind: `thanks_${state.ending!}`, step, point }]
  const intro = isFirstItem(point) && flow.skills.length > 0
  const question: Prompt = { kind: point.at, step, point }
  return intro ? [{ kind: 'skills_intro', step, point }, question] : [question]
}

function isFirstItem(point: Point) {
  return point.at === 'skills' && point.skill === 0 && point.item === 0
}

function stay(state: ConversationState) {
  return { state, prompts: [] }
}

function repeatQuestion(state: ConversationState, flow: ConversationFlow) {
  return { state, prompts: currentPrompts(state, flow) }
}

function notUnderstood(state: ConversationState, flow: ConversationFlow) {
  if (state.misses === MAX_MISSES) return stay(state)
  const next = { ...state, misses: state.misses + 1 }
  const apology: Prompt = { kind: 'not_understood', step: state.step, point: state.point }
  return { state: next, prompts: [apology, ...currentPrompts(next, flow).slice(-1)] }
}

/** Asks the next question, or completes the conversation if there is none. */
function askNext(state: ConversationState, flow: ConversationFlow) {
  const questions = questionsOf(flow)
  const at = questions.findIndex((point) => isSamePoint(point, state.point))
  const next = questions[at + 1] // consent and language are not in the list: after them comes the first question
  return next ? askAt(state, flow, next) : end('completed')(state, flow)
}

function askAt(state: ConversationState, flow: ConversationFlow, point: Point) {
  const next = { ...state, point, step: state.step + 1, misses: 0 }
  return { state: next, prompts: currentPrompts(next, flow) }
}

function end(
  ending: Ending,
): (state: ConversationState, flow: ConversationFlow) => { state: ConversationState; prompts: Prompt[] } {
  return (state, flow) => {
    const next: ConversationState = { ...state, point: { at: 'ended' }, step: state.step + 1, misses: 0, ending }
    return { state: next, prompts: currentPrompts(next, flow) }
  }
}

function isSamePoint(a: Point, b: Point) {
  return JSON.stringify(a) === JSON.stringify(b)
}

function afterConsent(state: ConversationState, flow: ConversationFlow) {
  return flow.languages.length > 1 && !state.languageKnown
    ? askAt(state, flow, { at: 'language' })
    : askNext(state, flow)
}

function chooseLanguage(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  return askNext(withLanguage(state, meaning), flow)
}

/** Repeats the current question in the new language. The step stays the same, so that a pending answer still counts. */
function switchLanguage(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  return repeatQuestion(withLanguage(state, meaning), flow)
}

function setLanguage(state: ConversationState, _flow: ConversationFlow, meaning: ReplyMeaning) {
  return stay(withLanguage(state, meaning))
}

function withLanguage(state: ConversationState, meaning: ReplyMeaning): ConversationState {
  return { ...state, language: (meaning as { language: Language }).language, languageKnown: true }
}

function answerQuestion(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  const { question } = state.point as { question: number }
  const answer = meaning.is === 'words' ? meaning.words : meaning.is
  const enrichment = [...state.enrichment.slice(0, question), answer]
  const next = { ...state, enrichment }
  return flow.enrichment[question]!.knockout === answer ? end('knocked_out')(next, flow) : askNext(next, flow)
}

function skipQuestion(state: ConversationState, flow: ConversationFlow) {
  const { question } = state.point as { question: number }
  return askNext({ ...state, enrichment: [...state.enrichment.slice(0, question), null] }, flow)
}

/** Asks the previous question again and discards its answer. Answers to skill questions cannot be changed. */
function askPrevious(state: ConversationState, flow: ConversationFlow) {
  const { point } = state
  const previous =
    point.at === 'enrichment' ? point.question - 1 : isFirstItem(point) ? state.enrichment.length - 1 : undefined
  if (previous === undefined || previous < 0) return repeatQuestion(state, flow)
  const next = { ...state, enrichment: state.enrichment.slice(0, previous) }
  return askAt(next, flow, { at: 'enrichment', question: previous })
}

function answerItem(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  const { skill } = state.point as { skill: number }
  const skills = [...state.skills]
  skills[skill] = [...(skills[skill] ?? []), (meaning as { choice: number }).choice]
  return askNext({ ...state, skills }, flow)
}

function answerInterest(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  const interest = meaning.is === 'yes'
  return end(interest ? 'completed' : 'not_interested')({ ...state, interest }, flow)
}
