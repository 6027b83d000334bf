/** A taxonomy as its reader hands it over, whatever the format it came in. Ids are those of the source. */
export interface Taxonomy {
  source: Source
  masters: TaxonomyMaster[]
  subSkills: TaxonomySubSkill[]
  skills: TaxonomySkill[]
  /** Rows that the reader could not make a skill of. */
  refused: Refusal[]
}

export type Source = 'builtin' | 'esco' | 'onet' | 'lightcast' | 'csv' | 'request'

export interface TaxonomyMaster {
  id: string
  name: string
  /** Fixed for built-in ones; others get the next free number. */
  number?: number
}

export interface TaxonomySubSkill {
  id: string
  /** Id of a master of this taxonomy; absent where `number` names a sub-skill that exists. */
  master?: string
  name: string
  number?: number
  /** With `number`: the name of the master skill it is said to stand under, if any. */
  within?: string
}

export interface TaxonomySkill {
  id: string
  name: string
  description: string
  aliases: string[]
  /** Id of a sub-skill of this taxonomy. */
  subSkill: string
  verifiable: boolean
  number?: number
  /** Where it was read: file and line. */
  at: string
}

export interface Refusal {
  at: string
  /** The row's id or name, as far as there is one. */
  row: string
  reason: string
}
