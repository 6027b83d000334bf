import type { Language } from '../platform/text/languages.ts'
import type { Point } from './flow.ts'

export type Ending = 'completed' | 'knocked_out' | 'not_interested' | 'refused' | 'stopped'

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
  /** Answers by question; null for a skipped question. */
  enrichment: (string | null)[]
  /** Chosen options by skill and item. */
  skills: number[][]
  interest: boolean | null
  ending: Ending | null
  /** The time, in ISO format, at which the candidate asked to be contacted again; absent after the contact and after the next answer. */
  contactAt?: string
}
