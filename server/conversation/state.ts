import type { Language } from '../platform/text/languages.ts'
import type { Point } from './flow.ts'

export type Ending = 'completed' | 'knocked_out' | 'not_interested' | 'refused' | 'stopped'

/** An item of a candidate's form, with the answer. */
export interface FormItem {
  id: string
  /** The options in the order in which they are shown, as `drawItem` returns them. */
  options: number[]
  /** Whether the item is asked without being scored. */
  pilot?: boolean
  /** Whether the answer was changed. One answer per skill can be: otherwise, the number of questions would reveal right answers. */
  corrected?: boolean
  /** The chosen option: its index in `options`. */
  choice?: number
  /** Seconds between question and answer. */
  seconds?: number
  /** Language in which the item was asked. */
  language?: Language
  /** Channel on which the answer arrived. */
  channel?: string
}

/** The state of a candidate's conversation. Plain data: stored as JSON, the same for every channel. */
export interface ConversationState {
  /** Counts the questions asked so far. Replies that contain a different step are ignored. */
  step: number
  point: Point
  language: Language
  /** Whether the candidate chose the language, or the enrolment contained it. Then the language question is skipped. */
  languageKnown: boolean
  /** Whether the candidate has given consent. Absent in conversations that were started by earlier versions. */
  consented?: boolean
  /** Number of replies to the current question that were not understood. */
  misses: number
  /** The items of the candidate, the order of their options and the numbers of calculations are drawn from this seed. */
  seed: string
  /** Answers by question; null for a skipped question. */
  enrichment: (string | null)[]
  /** The items of each skill. Items that are certainly asked are drawn in advance. */
  skills: FormItem[][]
  /** IDs of items that the candidate has answered in earlier campaigns. */
  seenItems?: string[]
  /** The language of skill questions that do not exist in the candidate's language. */
  skillLanguage?: Language
  /** Whether the candidate went back to change an answer about a skill. */
  isCorrecting?: boolean
  /** When the current question was asked, in epoch milliseconds. */
  askedAt?: number
  interest: boolean | null
  ending: Ending | null
  /** The time, in ISO format, at which the candidate asked to be contacted again; absent after the contact and after the next answer. */
  contactAt?: string
}
