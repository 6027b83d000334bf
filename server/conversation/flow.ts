import type { Language } from '../questions/questions.ts'

export type Texts = Partial<Record<Language, string>>

/** What a candidate is asked, as prepared for a mandate: the part of a mandate's flow that a conversation reads. */
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

/** Where a conversation stands. */
export type Point =
  | { at: 'consent' }
  | { at: 'language' }
  | { at: 'enrichment'; question: number }
  | { at: 'skills'; skill: number; item: number }
  | { at: 'interest' }
  | { at: 'ended' }

/** The questions of a flow in their order, without consent and language. */
export function questionsOf({ methods, enrichment, skills, interest }: ConversationFlow): Point[] {
  const has = (method: ConversationFlow['methods'][number]) => methods.includes(method)
  return [
    ...(has('data_enrichment') ? enrichment.map((_, question): Point => ({ at: 'enrichment', question })) : []),
    ...(has('skill_verification')
      ? skills.flatMap(({ items }, skill) => items.map((_, item): Point => ({ at: 'skills', skill, item })))
      : []),
    ...(interest && has('interest_collection') ? [{ at: 'interest' } as const] : []),
  ]
}

/** A text in the language asked for, else in English, else in whatever there is. */
export function inLanguage<T>(texts: Partial<Record<Language, T>>, language: Language): T {
  return texts[language] ?? texts.en ?? (Object.values(texts)[0] as T)
}
