/** A taxonomy in the common form that the readers of all file formats return. IDs are those of the source. */
export interface Taxonomy {
  source: Source
  masters: TaxonomyMaster[]
  subSkills: TaxonomySubSkill[]
  skills: TaxonomySkill[]
  /** Rows that the reader could not convert to skills. */
  rejected: RejectedRow[]
}

export type Source = 'builtin' | 'esco' | 'onet' | 'lightcast' | 'csv' | 'request'

export interface TaxonomyMaster {
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
  /** Only with `number`: the name of the master skill that the file names for the sub-skill, if any. */
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
