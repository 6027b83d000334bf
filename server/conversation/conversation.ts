import type { Language } from '../platform/text/languages.ts'
import { type ConversationFlow, type Point, questionPoint, questionsOf } from './flow.ts'
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
  | 'later'
  | 'contact_today'
  | 'contact_tomorrow'
  | 'not_understood'
  | 'thanks_completed'
  | 'thanks_knocked_out'
  | 'thanks_not_interested'
  | 'thanks_refused'
  | 'thanks_stopped'

export interface Prompt {
  kind: PromptKind
  /** Step of the question. Replies that contain a different step are ignored. */
  step: number
  point: Point
}

export interface ReplyOutcome {
  state: ConversationState
  prompts: Prompt[]
  /** Set by the reply that ends the conversation. */
  ending?: Ending
  /** Set if the candidate asked to be contacted again. The caller chooses the time and stores it in `contactAt` of the state. */
  contactAgain?: 'today' | 'tomorrow'
  /** The reply was an opt-out, which counts even after the conversation has ended. */
  stop: boolean
}

/** Maximum number of "not understood" messages per question. The limit prevents an endless exchange with another bot. */
export const MAX_MISSES = 3

/** Returns the initial state. `languageKnown` is true if the enrolment contains the candidate's language. */
export function startConversation(language: Language, languageKnown: boolean): ConversationState {
  const point: Point = { at: 'consent' }
  return {
    step: 1,
    point,
    language,
    languageKnown,
    consented: false,
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
) => { state: ConversationState; prompts: Prompt[]; contactAgain?: 'today' | 'tomorrow' }

/**
 * The state machine of the conversation, indexed by current point and meaning of the reply. Missing entries use `defaultTransitions`
 * or, after the end, `keepState`. If the candidate does not reply, the state stays the same, and the question is repeated when the
 * candidate returns (`currentPrompts`).
 */
// biome-ignore format: aligned columns are easier to read
const transitions: Record<Point['at'], Partial<Record<ReplyMeaning['is'], Transition>>> = {
  //            yes                      no                        other meanings
  consent:    { yes: acceptConsent,      no: endConversation('refused') },
  language:   {                                                    language: chooseLanguage },
  enrichment: { yes: answerQuestion,     no: answerQuestion,       words: answerQuestion, skip: skipQuestion, back: askPrevious },
  skills:     {                                                    choice: answerItem, back: askPrevious },
  interest:   { yes: answerInterest,     no: answerInterest },
  later:      { today: contactAgain,     tomorrow: contactAgain,   never: endConversation('refused'), back: askPostponed, later: apologise },
  ended:      { stop: keepState, repeat: keepState, unknown: keepState, language: setLanguage },
}

const defaultTransitions: Record<ReplyMeaning['is'], Transition> = {
  stale: keepState, // a reply to an earlier question, or a duplicate
  stop: endConversation('stopped'),
  language: switchLanguage,
  repeat: repeatQuestion,
  back: repeatQuestion, // there is no previous question
  later: askWhen,
  acknowledged: keepState, // "ok" after a contact was agreed
  unknown: apologise,
  yes: apologise,
  no: apologise,
  choice: apologise,
  words: apologise,
  skip: apologise,
  today: apologise,
  tomorrow: apologise,
  never: apologise,
}

/** Applies one reply. Pure: the same state, flow and input always return the same outcome. */
export function advance(state: ConversationState, flow: ConversationFlow, input: ConversationInput): ReplyOutcome {
  const meaning = meaningOf(state, flow, input)
  const transition =
    transitions[state.point.at][meaning.is] ?? (state.point.at === 'ended' ? keepState : defaultTransitions[meaning.is])
  const transitionResult = transition(state, flow, meaning)
  const hasEnded = state.ending === null && transitionResult.state.ending !== null
  return {
    ...transitionResult,
    // An answer replaces the agreed contact; a reply that is not understood does not.
    state:
      transitionResult.state.step === state.step ? transitionResult.state : withoutContactTime(transitionResult.state),
    stop: meaning.is === 'stop',
    ...(hasEnded ? { ending: transitionResult.state.ending! } : {}),
  }
}

/** Returns the prompts for the current question, or the closing message once the conversation has ended. */
export function currentPrompts(state: ConversationState, flow: ConversationFlow): Prompt[] {
  const { point, step } = state
  if (point.at === 'ended') return [{ kind: `thanks_${state.ending!}`, step, point }]
  const hasIntro = isFirstItem(point) && flow.skills.length > 0
  const question: Prompt = { kind: point.at, step, point }
  return hasIntro ? [{ kind: 'skills_intro', step, point }, question] : [question]
}

/** Returns the state without the time of the next contact: the contact has been made, or is no longer needed. */
export function withoutContactTime(state: ConversationState): ConversationState {
  if (state.contactAt === undefined) return state
  const { contactAt: _, ...otherFields } = state
  return otherFields
}

function isFirstItem(point: Point) {
  return point.at === 'skills' && point.skill === 0 && point.item === 0
}

function keepState(state: ConversationState) {
  return { state, prompts: [] }
}

function repeatQuestion(state: ConversationState, flow: ConversationFlow) {
  return { state, prompts: currentPrompts(state, flow) }
}

/** Sends "not understood" and repeats the question, up to `MAX_MISSES` times per question. */
function apologise(state: ConversationState, flow: ConversationFlow) {
  if (state.misses === MAX_MISSES) return keepState(state)
  const nextState = { ...state, misses: state.misses + 1 }
  const apology: Prompt = { kind: 'not_understood', step: state.step, point: state.point }
  return { state: nextState, prompts: [apology, ...currentPrompts(nextState, flow).slice(-1)] }
}

/** Asks the next question, or completes the conversation if there is none. */
function askNext(state: ConversationState, flow: ConversationFlow) {
  const questions = questionsOf(flow)
  const position = questions.findIndex((point) => isSamePoint(point, state.point))
  // Consent and language are not in the list: their position is -1, and the next question is the first one.
  const nextQuestion = questions[position + 1]
  return nextQuestion ? askAt(state, flow, nextQuestion) : endConversation('completed')(state, flow)
}

function askAt(state: ConversationState, flow: ConversationFlow, point: Point) {
  const nextState = { ...state, point, step: state.step + 1, misses: 0 }
  return { state: nextState, prompts: currentPrompts(nextState, flow) }
}

function endConversation(
  ending: Ending,
): (state: ConversationState, flow: ConversationFlow) => { state: ConversationState; prompts: Prompt[] } {
  return (state, flow) => {
    const nextState: ConversationState = { ...state, point: { at: 'ended' }, step: state.step + 1, misses: 0, ending }
    return { state: nextState, prompts: currentPrompts(nextState, flow) }
  }
}

function isSamePoint(a: Point, b: Point) {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Asks for the language, if there is a choice and the language is not known, otherwise the first question. */
function acceptConsent(state: ConversationState, flow: ConversationFlow) {
  const nextState = { ...state, consented: true }
  return flow.languages.length > 1 && !state.languageKnown
    ? askAt(nextState, flow, { at: 'language' })
    : askNext(nextState, flow)
}

/** Asks when to contact the candidate again. */
function askWhen(state: ConversationState, flow: ConversationFlow) {
  const back = questionPoint(state.point)
  if (back.at === 'ended') return keepState(state)
  return askAt({ ...state, consented: state.consented ?? back.at !== 'consent' }, flow, { at: 'later', back })
}

/** Returns to the postponed question without asking it: it is asked again in the next contact. */
function contactAgain(state: ConversationState, _flow: ConversationFlow, meaning: ReplyMeaning) {
  const when = meaning.is as 'today' | 'tomorrow'
  const nextState = { ...state, point: questionPoint(state.point), step: state.step + 1, misses: 0 }
  const confirmation: Prompt = { kind: `contact_${when}`, step: nextState.step, point: nextState.point }
  return { state: nextState, prompts: [confirmation], contactAgain: when }
}

function askPostponed(state: ConversationState, flow: ConversationFlow) {
  return askAt(state, flow, questionPoint(state.point))
}

function chooseLanguage(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  return askNext(withLanguage(state, meaning), flow)
}

/** Repeats the current question in the new language. The step stays the same, so that an answer that was already sent is accepted. */
function switchLanguage(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  return repeatQuestion(withLanguage(state, meaning), flow)
}

function setLanguage(state: ConversationState, _flow: ConversationFlow, meaning: ReplyMeaning) {
  return keepState(withLanguage(state, meaning))
}

function withLanguage(state: ConversationState, meaning: ReplyMeaning): ConversationState {
  return { ...state, language: (meaning as { language: Language }).language, languageKnown: true }
}

function answerQuestion(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  const { question } = state.point as { question: number }
  const answer = meaning.is === 'words' ? meaning.words : meaning.is
  const enrichment = [...state.enrichment.slice(0, question), answer]
  const nextState = { ...state, enrichment }
  return flow.enrichment[question]!.knockout === answer
    ? endConversation('knocked_out')(nextState, flow)
    : askNext(nextState, flow)
}

function skipQuestion(state: ConversationState, flow: ConversationFlow) {
  const { question } = state.point as { question: number }
  return askNext({ ...state, enrichment: [...state.enrichment.slice(0, question), null] }, flow)
}

/** Asks the previous question again and discards its answer. Answers to skill questions cannot be changed. */
function askPrevious(state: ConversationState, flow: ConversationFlow) {
  const { point } = state
  const previousQuestion =
    point.at === 'enrichment' ? point.question - 1 : isFirstItem(point) ? state.enrichment.length - 1 : undefined
  if (previousQuestion === undefined || previousQuestion < 0) return repeatQuestion(state, flow)
  const nextState = { ...state, enrichment: state.enrichment.slice(0, previousQuestion) }
  return askAt(nextState, flow, { at: 'enrichment', question: previousQuestion })
}

function answerItem(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  const { skill } = state.point as { skill: number }
  const skills = [...state.skills]
  skills[skill] = [...(skills[skill] ?? []), (meaning as { choice: number }).choice]
  return askNext({ ...state, skills }, flow)
}

function answerInterest(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  const interest = meaning.is === 'yes'
  return endConversation(interest ? 'completed' : 'not_interested')({ ...state, interest }, flow)
}
