/**
 * A taxonomy to import. The readers of all file formats return this type. Its IDs are the IDs of the source, such as ESCO URIs.
 */
export interface Taxonomy {
  source: Source
  masters: TaxonomyMasterSkill[]
  subSkills: TaxonomySubSkill[]
  skills: TaxonomySkill[]
  /** Rows that the reader could not convert to skills. */
  rejected: RejectedRow[]
}

/** Formats of files that operators can import. Each is the source of its skills. */
export const taxonomyFormats = ['esco', 'onet', 'lightcast', 'csv'] as const
export type TaxonomyFormat = (typeof taxonomyFormats)[number]

export type Source = 'builtin' | 'request' | TaxonomyFormat

export interface TaxonomyMasterSkill {
  id: string
  name: string
  /** Fixed for built-in master skills; others get the next free number. */
  number?: number
}

export interface TaxonomySubSkill {
  id: string
  /** ID of a master skill of this taxonomy; absent if `number` refers to an existing sub-skill. */
  master?: string
  name: string
  number?: number
  /** Name of the master skill of the sub-skill, according to the file. Only present together with `number`, to check it. */
  expectedMaster?: string
}

export interface TaxonomySkill {
  id: string
  name: string
  description: string
  aliases: string[]
  /** ID of a sub-skill of this taxonomy. */
  subSkill: string
  verifiable: boolean
  number?: number
  /** File and line of the skill, such as `skills.csv:12`. */
  location: string
}

/** A row that was not imported. */
export interface RejectedRow {
  /** File and line of the row, such as `skills.csv:12`. */
  at: string
  /** The row's name or ID; empty if it has neither. */
  row: string
  reason: string
}
