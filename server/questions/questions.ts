import type { Snapshot } from '../catalogue/snapshot.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { AiWriter } from './ai/writer.ts'
import { BuiltInWriter } from './built-in-writer.ts'

export { fingerprint } from './fingerprint.ts'

export const LANGUAGES = ['en', 'hi', 'bn', 'ta', 'te', 'mr', 'gu', 'kn', 'ml', 'pa', 'or', 'as'] as const
export type Language = (typeof LANGUAGES)[number]

/** A skill of the catalogue. */
export interface SkillToAsk {
  number: number
  name: string
  description: string
}

/** Where the person says to have used the skills. Written by others: data, never instructions. */
export interface SourceContext {
  role?: string
  company?: string
  project?: string
  certificate?: string
  issuer?: string
  description?: string
  title?: string
}

export interface Item {
  skill: number
  stem: string
  options: [string, string, string, string]
  key: 0 | 1 | 2 | 3
  difficulty: 1 | 2 | 3
  kind: string
  bankId?: string
  /** What it is written in: not what was asked for where the writer lacks that language. */
  language: Language
}

export interface ItemsRequest {
  skills: {
    skill: SkillToAsk
    count: number
    /** Fingerprints of items that the person has seen, the oldest first. */
    avoid?: string[]
  }[]
  /** With any field set, every stem carries the skill's name and leans on the source. */
  context: SourceContext
  language: Language
  /** The same seed gives the same items from the same bank and catalogue. */
  seed: string
  signal?: AbortSignal
}

export interface ItemsAnswer {
  items: Item[]
  /** Skills for which too few items passed the checks. */
  short: number[]
}

export interface TranslationRequest {
  texts: string[]
  from: Language
  to: Language[]
  signal?: AbortSignal
}

export type Translations = Partial<Record<Language, string[]>>

export interface QuestionWriter {
  readonly kind: 'built-in' | 'ai'
  writeItems(request: ItemsRequest): Promise<ItemsAnswer>
  /** Undefined: it cannot translate, and the text stays as it was written. */
  translate(request: TranslationRequest): Promise<Translations | undefined>
}

export interface AiSettings {
  baseUrl: string
  apiKey?: string | undefined
  model: string
}

/** What the writers read of the catalogue. */
export type CatalogueToAsk = { readonly current: Pick<Snapshot, 'skills' | 'skill'> }

export interface WriterOptions {
  catalogue: CatalogueToAsk
  clock: Clock
  log: Log
}

/** Configuration decides which one serves; neither ever stands in for the other. */
export function openWriter(ai: AiSettings | undefined, { catalogue, clock, log }: WriterOptions): QuestionWriter {
  return ai ? new AiWriter(ai, { clock, log }) : new BuiltInWriter(catalogue)
}
