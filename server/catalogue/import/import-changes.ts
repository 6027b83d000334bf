import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../platform/database/database.ts'
import type { CatalogueChanges } from './merge.ts'

const ROWS_PER_STATEMENT = 1000

/**
 * Stores which rows an import adds and changes, with their previous values. Must be called before the changes are written, and after new
 * rows have their numbers.
 */
export async function recordChanges(
  tx: Tx,
  importId: string,
  { masters, subSkills, skills, sources }: CatalogueChanges,
): Promise<void> {
  const addedSkills = [...skills.added, ...skills.changed.filter(({ isRevived }) => isRevived)]
  await insert(masters.added, ({ number }) => ({ number }), addedRow('master_skill'))
  await insert(subSkills.added, ({ number }) => ({ number }), addedRow('sub_skill'))
  await insert(addedSkills, ({ number }) => ({ number }), addedRow('skill'))
  await insert(sources.added, ({ skill, id }) => ({ number: skill.number, id }), addedRow('source'))
  await insert(masters.changed, ({ number, name }) => ({ number, name }), changedMaster)
  await insert(
    subSkills.changed,
    ({ number, name, master }) => ({ number, name, master: master.number }),
    changedSubSkill,
  )
  await insert(
    skills.changed.filter(({ isRevived }) => !isRevived),
    ({ number, name, sub, description, aliases, verifiable }) => {
      return { number, name, sub: sub.number, description, aliases, verifiable }
    },
    changedSkill,
  )
  await insert(sources.changed, ({ source, id }) => ({ source, id }), changedSource)

  async function insert<T>(plans: readonly T[], toRow: (plan: T) => object, select: Select): Promise<void> {
    for (let start = 0; start < plans.length; start += ROWS_PER_STATEMENT) {
      const rows = plans.slice(start, start + ROWS_PER_STATEMENT).map(toRow)
      await sql`insert into skill_import_changes (import_id, kind, number, source_id, before)
        ${select(sql`json_to_recordset(${JSON.stringify(rows)}::json)`, importId)}`.execute(tx)
    }
  }
}

/** Builds the query for the rows to insert. `rows` are the new values. */
type Select = (rows: RawBuilder<unknown>, importId: string) => RawBuilder<unknown>

const addedRow =
  (kind: string): Select =>
  (rows, importId) =>
    sql`select ${importId}, ${kind}, number, coalesce(id, ''), null::jsonb from ${rows} as row (number int, id text)`

const changedMaster: Select = (rows, importId) => sql`
    select ${importId}, 'master_skill', number, '', jsonb_build_object('name', old.name)
    from ${rows} as row (number int, name text) join master_skills old using (number)`

const changedSubSkill: Select = (rows, importId) => sql`
    select ${importId}, 'sub_skill', number, '', jsonb_build_object('name', old.name, 'master_number', old.master_number)
    from ${rows} as row (number int, name text, master int) join sub_skills old using (number)`

/** Only the columns that the import changes, so that an undo does not revert later changes of the others. */
const changedSkill: Select = (rows, importId) => sql`
    select ${importId}, 'skill', number, '', jsonb_strip_nulls(jsonb_build_object(
      'name', case when old.name <> row.name then old.name end,
      'sub_number', case when old.sub_number <> row.sub then old.sub_number end,
      'description', case when old.description <> row.description then old.description end,
      'aliases', case when old.aliases <> row.aliases then to_jsonb(old.aliases) end,
      'verifiable', case when old.verifiable <> row.verifiable then old.verifiable end))
    from ${rows} as row (number int, name text, sub int, description text, aliases text[], verifiable boolean)
    join skills old using (number)`

const changedSource: Select = (rows, importId) => sql`
    select ${importId}, 'source', old.skill_number, id, to_jsonb(old) - '{source,source_id,skill_number,owner}'::text[]
    from ${rows} as row (source text, id text) join skill_sources old on old.source = row.source and old.source_id = id`
