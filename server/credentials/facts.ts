import type { Language } from '../platform/text/languages.ts'
import type { ItemSource } from '../questions/skill-items.ts'

export const methods = ['assessment', 'endorsement', 'campaign'] as const
type Method = (typeof methods)[number]

/** Where the evidence of a credential comes from. */
export type SourceKind = 'session' | 'candidate'

/** How a skill was verified, as stored with its credential. It contains nothing about the reviewer. */
export interface Facts {
  method: Method
  /** Time of the verdict or of the endorsement, ISO 8601. */
  verifiedAt: string
  /** Language of the items; null for endorsements. */
  language: Language | null
  correct: number | null
  asked: number | null
  confidence: number | null
  itemSource: ItemSource | null
  /** Number of items that were still being tried out. Absent in credentials of earlier versions. */
  unpilotedItems?: number | null
  evidenceLevel: 'strong' | 'moderate' | 'weak' | null
  /** Relation of the reviewer to the student. */
  relation: string | null
  /** The project, work experience or certificate of the student. */
  source: { type: 'project' | 'experience' | 'certificate'; title: string } | null
}

/** A scored response of the measurement, to compute the verdict again when an item turns out to be wrong. */
export interface ScoredResponse {
  id: string
  difficulty: number
  isCorrect: boolean
  /** Whether too few people had answered the item to know how good it is. Absent in credentials of earlier versions. */
  isUnpiloted?: boolean
}

/** A skill that a session or a candidacy has verified. */
export interface VerifiedSkill {
  number: number
  name: string
  facts: Facts
  responses: ScoredResponse[]
}
