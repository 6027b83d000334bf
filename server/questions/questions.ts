import type { Language } from '../platform/text/languages.ts'

/** A skill to write questions about. */
export interface SkillToAsk {
  number: number
  name: string
  description: string
}

/** The work in which the person used the skills. User text, never interpreted as instructions. */
export interface SourceContext {
  role?: string
  company?: string
  project?: string
  certificate?: string
  issuer?: string
  description?: string
  /** Title of the job that the person is asked about; `company` is then the hiring company. */
  title?: string
}

export interface Item {
  /** Number of the skill. */
  skill: number
  stem: string
  options: [string, string, string, string]
  key: 0 | 1 | 2 | 3
  difficulty: 1 | 2 | 3
  kind: string
  /** Language of the item; differs from the requested one if the writer does not support that. */
  language: Language
}

export interface ItemsRequest {
  skills: {
    skill: SkillToAsk
    count: number
    /** Fingerprints of items that the person has seen, oldest first. */
    avoid?: string[]
  }[]
  /** If any field is set, every stem names the skill and refers to the source. */
  context: SourceContext
  language: Language
  /** Determines the order of kinds and options. */
  seed: string
  signal?: AbortSignal
}

export interface ItemsResult {
  items: Item[]
  /** Numbers of the skills for which too few items passed the checks. */
  incompleteSkills: number[]
}

export interface TranslationRequest {
  texts: string[]
  from: Language
  to: Language[]
  signal?: AbortSignal
}

export type Translations = Partial<Record<Language, string[]>>

interface Translator {
  /** Resolves to undefined if the writer cannot translate; the text then stays in its original language. */
  translate(request: TranslationRequest): Promise<Translations | undefined>
}

export interface ConfirmationRequest {
  /** Items about one skill. */
  items: Item[]
  skill: SkillToAsk
  /** Determines the order of options. */
  seed: string
  signal?: AbortSignal
}

/** Writes items with the help of an AI model. */
export interface ItemWriter extends Translator {
  readonly kind: 'ai'
  /** Writes items whose keys were confirmed. */
  writeItems(request: ItemsRequest): Promise<ItemsResult>
  /** Returns the items that a model answers correctly without seeing their keys. */
  confirmKeys(request: ConfirmationRequest): Promise<Item[]>
}

/** Writes the questions that banks do not have. The built-in writer writes none: without an AI model, all questions come from banks. */
export type QuestionWriter = ItemWriter | (Translator & { readonly kind: 'built-in' })

export interface AiSettings {
  baseUrl: string
  apiKey?: string | undefined
  model: string
  /** Whether the model must be unable to find the keys from the options alone. */
  blindCheck?: boolean
}
