import type { Language } from '../platform/text/languages.ts'
import { type ConversationFlow, type Point, questionPoint } from './flow.ts'
import { type ConversationInput, meaningOf, type ReplyMeaning } from './reply-meaning.ts'
import { drawFirstItems, needsSkillLanguage, nextItem, skillLanguage } from './skill-form.ts'
import type { ConversationState, Ending, FormItem } from './state.ts'

/** The kinds of prompts; `render` turns them into text. */
type PromptKind =
  | 'consent'
  | 'language'
  | 'enrichment'
  | 'skill_language'
  | 'skills_intro'
  | 'skills'
  | 'interest'
  | 'later'
  | 'contact_today'
  | 'contact_tomorrow'
  | 'not_understood'
  | 'back_limit'
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

/**
 * Returns the initial state. `languageKnown` is true if the enrolment contains the candidate's language. `seed` is random: the
 * candidate's items are drawn from it.
 */
export function startConversation(language: Language, languageKnown: boolean, seed: string): ConversationState {
  const point: Point = { at: 'consent' }
  return {
    step: 1,
    point,
    language,
    languageKnown,
    consented: false,
    misses: 0,
    seed,
    enrichment: [],
    skills: [],
    interest: null,
    ending: null,
  }
}

/** When and on which channel a reply arrived. */
export interface ReplyCircumstances {
  now: number
  channel: string
  /** The time that the candidate needed, if it is not the time since the question. */
  seconds?: number | undefined
}

type Transition = (
  state: ConversationState,
  flow: ConversationFlow,
  meaning: ReplyMeaning,
  circumstances: ReplyCircumstances,
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
  skill_language: {                                                language: chooseSkillLanguage, back: askPrevious },
  skills:     {                                                    choice: answerItem, back: askPrevious },
  interest:   { yes: answerInterest,     no: answerInterest,       back: askPrevious },
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

/** Applies one reply. Pure: the same state, flow, input and circumstances always return the same outcome. */
export function advance(
  state: ConversationState,
  flow: ConversationFlow,
  input: ConversationInput,
  circumstances: ReplyCircumstances,
): ReplyOutcome {
  const meaning = meaningOf(state, flow, input)
  const transition =
    transitions[state.point.at][meaning.is] ?? (state.point.at === 'ended' ? keepState : defaultTransitions[meaning.is])
  const transitionResult = transition(state, flow, meaning, circumstances)
  const hasEnded = state.ending === null && transitionResult.state.ending !== null
  const isNewQuestion = transitionResult.state.step !== state.step
  return {
    ...transitionResult,
    // An answer replaces the agreed contact; a reply that is not understood does not.
    state: isNewQuestion
      ? { ...withoutContactTime(transitionResult.state), askedAt: circumstances.now }
      : transitionResult.state,
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
  const next = nextQuestion(drawFirstItems(state, flow), flow)
  return next.point ? askAt(next.state, flow, next.point) : endConversation('completed')(next.state, flow)
}

/** Returns the first question without an answer. Its item is drawn if necessary, which changes the state. */
function nextQuestion(
  state: ConversationState,
  { methods, enrichment, skills, ...flow }: ConversationFlow,
): { state: ConversationState; point?: Point } {
  if (methods.includes('data_enrichment') && state.enrichment.length < enrichment.length)
    return { state, point: { at: 'enrichment', question: state.enrichment.length } }
  if (methods.includes('skill_verification')) {
    for (const [skill, flowSkill] of skills.entries()) {
      const next = nextItem(state, { methods, enrichment, skills, ...flow }, skill)
      if (!next) continue
      if (needsSkillLanguage(state, flowSkill)) return { state, point: { at: 'skill_language', skill } }
      return { state: next.state, point: { at: 'skills', skill, item: next.item } }
    }
  }
  const asksInterest = flow.interest && methods.includes('interest_collection')
  return asksInterest && state.interest === null ? { state, point: { at: 'interest' } } : { state }
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

function chooseSkillLanguage(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  return askNext({ ...state, skillLanguage: (meaning as { language: Language }).language }, flow)
}

/**
 * Asks the previous question again and discards its answer. Of the answers about skills, only the last one can be changed, because
 * later questions may help with earlier ones, and only one answer per skill.
 */
function askPrevious(state: ConversationState, flow: ConversationFlow) {
  const previous = previousQuestion(state, flow)
  if (!previous) return explainBackLimit(state, flow)
  if (previous.at === 'enrichment')
    return askAt({ ...state, enrichment: state.enrichment.slice(0, previous.question) }, flow, previous)
  const { skill, item } = previous
  const { id, options, pilot } = state.skills[skill]![item]!
  const form = state.skills[skill]!.with(item, { id, options, ...(pilot ? { pilot } : {}), corrected: true })
  return askAt({ ...state, skills: state.skills.with(skill, form), isCorrecting: true }, flow, previous)
}

/** Repeats the question. If there are answers about skills, explains why none of them can be changed. */
function explainBackLimit(state: ConversationState, flow: ConversationFlow) {
  if (state.skills.flat().every(({ choice }) => choice === undefined) && !state.isCorrecting)
    return repeatQuestion(state, flow)
  const explanation: Prompt = { kind: 'back_limit', step: state.step, point: state.point }
  return { state, prompts: [explanation, ...currentPrompts(state, flow).slice(-1)] }
}

/** Returns the question to which the candidate can go back, if there is one. */
export function previousQuestion(
  state: ConversationState,
  { methods }: ConversationFlow,
): Extract<Point, { at: 'enrichment' | 'skills' }> | undefined {
  const { point, skills } = state
  if (point.at === 'consent' || point.at === 'language' || point.at === 'ended') return undefined
  const lastSkill = skills.findLastIndex((form) => form.some(({ choice }) => choice !== undefined))
  if (point.at !== 'enrichment' && lastSkill >= 0) {
    if (state.isCorrecting) return undefined
    const form = skills[lastSkill]!
    if (form.some(({ corrected }) => corrected)) return undefined
    return { at: 'skills', skill: lastSkill, item: form.findLastIndex(({ choice }) => choice !== undefined) }
  }
  const question = (point.at === 'enrichment' ? point.question : state.enrichment.length) - 1
  return methods.includes('data_enrichment') && question >= 0 ? { at: 'enrichment', question } : undefined
}

function answerItem(
  state: ConversationState,
  flow: ConversationFlow,
  meaning: ReplyMeaning,
  { now, channel, seconds = secondsSince(state.askedAt, now) }: ReplyCircumstances,
) {
  const { skill, item } = state.point as { skill: number; item: number }
  const form = state.skills[skill]!
  const answeredItem: FormItem = {
    ...form[item]!,
    choice: (meaning as { choice: number }).choice,
    ...(seconds === undefined ? {} : { seconds }),
    language: skillLanguage(state, flow.skills[skill]!),
    channel,
  }
  const skills = state.skills.with(skill, form.with(item, answeredItem))
  return askNext({ ...state, skills, isCorrecting: false }, flow)
}

function secondsSince(askedAt: number | undefined, now: number): number | undefined {
  return askedAt === undefined ? undefined : Math.max(0, Math.round((now - askedAt) / 1000))
}

function answerInterest(state: ConversationState, flow: ConversationFlow, meaning: ReplyMeaning) {
  const interest = meaning.is === 'yes'
  return endConversation(interest ? 'completed' : 'not_interested')({ ...state, interest }, flow)
}
