import type { Language } from '../platform/text/languages.ts'
import type { ItemSource, SkillItem } from '../questions/skill-items.ts'

type Texts = Partial<Record<Language, string>>

/** The prepared questions of a mandate: the part of its flow that a conversation uses. */
export interface ConversationFlow {
  methods: ('data_enrichment' | 'skill_verification' | 'interest_collection')[]
  languages: Language[]
  company_name: string
  title: string
  enrichment: { key: string; type: 'yes_no' | 'voice'; text: Texts; knockout?: 'yes' | 'no'; required: boolean }[]
  skills: FlowSkill[]
  interest: boolean
}

export interface FlowSkill {
  skill_id: string
  name: string
  source: ItemSource
  /** The items from which each candidate's are drawn. */
  items: SkillItem[]
  /** Languages in which the skill can be asked. */
  languages: Language[]
  /** Flows of earlier versions ask every candidate all items, in this order and with the options in this order. */
  fixedForm?: { id: string; options: number[] }[]
}

/** The current point of a conversation. */
export type Point =
  | { at: 'consent' }
  | { at: 'language' }
  | { at: 'enrichment'; question: number }
  | { at: 'skill_language'; skill: number }
  | { at: 'skills'; skill: number; item: number }
  | { at: 'interest' }
  /** The question of when to contact the candidate again; `back` is the question that was postponed. */
  | { at: 'later'; back: QuestionPoint }
  | { at: 'ended' }

/** A point at which the candidate is asked a question that can be postponed. */
type QuestionPoint = Exclude<Point, { at: 'later' | 'ended' }>

/** Returns the question that a postponed conversation continues with, else the point itself. */
export function questionPoint(point: Point): Exclude<Point, { at: 'later' }> {
  return point.at === 'later' ? point.back : point
}

/** Returns the text in the language, else in English, else in any language. */
export function inLanguage<T>(texts: Partial<Record<Language, T>>, language: Language): T {
  return texts[language] ?? texts.en ?? (Object.values(texts)[0] as T)
}
