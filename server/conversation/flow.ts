import type { Language } from '../platform/text/languages.ts'

type Texts = Partial<Record<Language, string>>

/** The prepared questions of a mandate: the part of its flow that a conversation uses. */
export interface ConversationFlow {
  methods: ('data_enrichment' | 'skill_verification' | 'interest_collection')[]
  languages: Language[]
  company_name: string
  title: string
  enrichment: { key: string; type: 'yes_no' | 'voice'; text: Texts; knockout?: 'yes' | 'no'; required: boolean }[]
  skills: {
    skill_id: string
    name: string
    items: {
      item_id: string
      key: 0 | 1 | 2 | 3
      text: Partial<Record<Language, { stem: string; options: [string, string, string, string] }>>
    }[]
  }[]
  interest: boolean
}

/** The current point of a conversation. */
export type Point =
  | { at: 'consent' }
  | { at: 'language' }
  | { at: 'enrichment'; question: number }
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

/** Returns the questions of a flow in order, without consent and language. */
export function questionsOf({ methods, enrichment, skills, interest }: ConversationFlow): Point[] {
  const hasMethod = (method: ConversationFlow['methods'][number]) => methods.includes(method)
  return [
    ...(hasMethod('data_enrichment') ? enrichment.map((_, question): Point => ({ at: 'enrichment', question })) : []),
    ...(hasMethod('skill_verification')
      ? skills.flatMap(({ items }, skill) => items.map((_, item): Point => ({ at: 'skills', skill, item })))
      : []),
    ...(interest && hasMethod('interest_collection') ? [{ at: 'interest' } as const] : []),
  ]
}

/** Returns the text in the language, else in English, else in any language. */
export function inLanguage<T>(texts: Partial<Record<Language, T>>, language: Language): T {
  return texts[language] ?? texts.en ?? (Object.values(texts)[0] as T)
}
