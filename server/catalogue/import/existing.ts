import type { Tx } from '../../platform/database/database.ts'
import type { Source } from '../taxonomy.ts'

/** The catalogue as the database has it, for comparing a taxonomy with. */
export interface Existing {
  masters: ExistingMaster[]
  subSkills: ExistingSubSkill[]
  skills: ExistingSkill[]
  sources: ExistingSource[]
}

export interface ExistingMaster {
  number: number
  name: string
  source: Source
  sourceId: string
}

export interface ExistingSubSkill extends ExistingMaster {
  masterNumber: number
}

export interface ExistingSkill {
  number: number
  subNumber: number
  name: string
  key: string
  description: string
  aliases: string[]
  verifiable: boolean
}

export interface ExistingSource {
  source: Source
  sourceId: string
  skillNumber: number
  owner: boolean
  name: string
  aliases: string[]
  verifiable: boolean
}

export async function readExisting(tx: Tx): Promise<Existing> {
  const place = ['number', 'name', 'source', 'source_id as sourceId'] as const
  return {
    masters: await tx.selectFrom('master_skills').select(place).orderBy('number').$castTo<ExistingMaster>().execute(),
    subSkills: await tx
      .selectFrom('sub_skills')
      .select([...place, 'master_number as masterNumber'])
      .orderBy('number')
      .$castTo<ExistingSubSkill>()
      .execute(),
    skills: await tx
      .selectFrom('skills')
      .select(['number', 'sub_number as subNumber', 'name', 'name_key as key', 'description', 'aliases', 'verifiable'])
      .execute(),
    sources: await tx
      .selectFrom('skill_sources')
      .select([
        'source',
        'source_id as sourceId',
        'skill_number as skillNumber',
        'owner',
        'name',
        'aliases',
        'verifiable',
      ])
      .$castTo<ExistingSource>()
      .execute(),
  }
}
