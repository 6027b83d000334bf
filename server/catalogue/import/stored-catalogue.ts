import type { Tx } from '../../platform/database/database.ts'
import type { SkillEdits } from '../skill-values.ts'
import type { Source } from '../taxonomy.ts'

/** The catalogue in the database, for comparison with a taxonomy. */
export interface StoredCatalogue {
  masters: StoredMaster[]
  subSkills: StoredSubSkill[]
  skills: StoredSkill[]
  sources: StoredSource[]
}

interface StoredMaster {
  number: number
  name: string
  source: Source
  sourceId: string
}

interface StoredSubSkill extends StoredMaster {
  masterNumber: number
}

export interface StoredSkill {
  number: number
  subNumber: number
  name: string
  key: string
  description: string
  aliases: string[]
  verifiable: boolean
  edits: SkillEdits
  withdrawn: boolean
}

interface StoredSource {
  source: Source
  sourceId: string
  skillNumber: number
  owner: boolean
  name: string
  aliases: string[]
  formerLabels: string[]
  verifiable: boolean
}

export async function readStoredCatalogue(tx: Tx): Promise<StoredCatalogue> {
  const groupColumns = ['number', 'name', 'source', 'source_id as sourceId'] as const
  // Groups are matched by name with the first one, and withdrawn ones are the last choice.
  return {
    masters: await tx
      .selectFrom('master_skills')
      .select(groupColumns)
      .orderBy('withdrawn')
      .orderBy('number')
      .$castTo<StoredMaster>()
      .execute(),
    subSkills: await tx
      .selectFrom('sub_skills')
      .select([...groupColumns, 'master_number as masterNumber'])
      .orderBy('withdrawn')
      .orderBy('number')
      .$castTo<StoredSubSkill>()
      .execute(),
    skills: await readStoredSkills(tx),
    sources: await tx
      .selectFrom('skill_sources')
      .select([
        'source',
        'source_id as sourceId',
        'skill_number as skillNumber',
        'owner',
        'name',
        'aliases',
        'former_labels as formerLabels',
        'verifiable',
      ])
      .$castTo<StoredSource>()
      .execute(),
  }
}

async function readStoredSkills(tx: Tx): Promise<StoredSkill[]> {
  const rows = await tx
    .selectFrom('skills')
    .select(['number', 'sub_number', 'name', 'name_key', 'description', 'aliases', 'verifiable', 'withdrawn'])
    .select(['edited_name', 'added_aliases', 'removed_aliases', 'edited_verifiable'])
    .execute()
  return rows.map(
    ({ sub_number, name_key, edited_name, added_aliases, removed_aliases, edited_verifiable, ...row }) => ({
      ...row,
      subNumber: sub_number,
      key: name_key,
      edits: {
        name: edited_name,
        addedAliases: added_aliases,
        removedAliases: removed_aliases,
        verifiable: edited_verifiable,
      },
    }),
  )
}
