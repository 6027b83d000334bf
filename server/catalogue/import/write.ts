import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../platform/database/database.ts'
import type { Source } from '../taxonomy.ts'
import type { MasterSkillPlan, SubSkillPlan } from './hierarchy.ts'
import { recordChanges } from './import-changes.ts'
import type { CatalogueChanges } from './merge.ts'
import type { SkillPlan, SourcePlan } from './skill-plans.ts'

/** Number of rows that one SQL statement writes. They are sent as one JSON text. */
const ROWS_PER_STATEMENT = 1000

export interface WriteOptions {
  /** Import that the changes are recorded for. Changes that are not recorded cannot be undone. */
  importId?: string
  progress?: ((written: number, total: number) => void) | undefined
}

/** Writes the changes of a merge and assigns numbers to new rows. Returns the number of added and changed rows. */
export async function writeCatalogueChanges(
  tx: Tx,
  source: Source,
  changes: CatalogueChanges,
  now: Date,
  { importId, progress = () => {} }: WriteOptions = {},
): Promise<number> {
  const { masters, subSkills, skills, sources } = changes
  const total = [masters, subSkills, skills, sources].reduce(
    (sum, { added, changed }) => sum + added.length + changed.length,
    0,
  )
  let written = 0
  await assignNumbers(tx, 'master_skill_numbers', masters.added)
  await assignNumbers(tx, 'sub_skill_numbers', subSkills.added)
  await assignNumbers(tx, 'skill_numbers', skills.added)
  if (importId) await recordChanges(tx, importId, changes)

  await writeRows(masters.added.map(masterRow), insertMasters(source))
  await writeRows(masters.changed.map(masterRow), updateMasters)
  await writeRows(subSkills.added.map(subSkillRow), insertSubSkills(source))
  await writeRows(subSkills.changed.map(subSkillRow), updateSubSkills)
  await updateStoredSkills(tx, skills.changed.map(skillRow), now, onWritten)
  await writeRows(skills.added.map(skillRow), insertSkills(now))
  await executeInBatches(tx, sources.removed.map(sourceRow), deleteSources)
  await writeRows(sources.added.map(sourceRow), insertSources)
  await writeRows(sources.changed.map(sourceRow), updateSources)
  return total

  function writeRows(rows: object[], statement: Statement) {
    return executeInBatches(tx, rows, statement, onWritten)
  }

  function onWritten(count: number) {
    written += count
    progress(written, total)
  }
}

/** Replaces the values of skills in the database. */
export async function updateStoredSkills(
  tx: Tx,
  rows: SkillRow[],
  now: Date,
  onWritten?: (count: number) => void,
): Promise<void> {
  // A name may move from one skill to another, so all changed names are released before any is assigned.
  await executeInBatches(tx, rows, releaseNames)
  await executeInBatches(tx, rows, updateSkills(now), onWritten)
}

async function executeInBatches(
  tx: Tx,
  rows: object[],
  statement: Statement,
  onBatchWritten?: (count: number) => void,
): Promise<void> {
  for (let batchStart = 0; batchStart < rows.length; batchStart += ROWS_PER_STATEMENT) {
    const batch = rows.slice(batchStart, batchStart + ROWS_PER_STATEMENT)
    await statement(sql`json_to_recordset(${JSON.stringify(batch)}::json)`).execute(tx)
    onBatchWritten?.(batch.length)
  }
}

/** Builds a statement that selects from `rows`. */
type Statement = (rows: RawBuilder<unknown>) => RawBuilder<unknown>

const masterRow = ({ number, name, id }: MasterSkillPlan) => ({ number, name, id })

const insertMasters =
  (source: Source): Statement =>
  (rows) =>
    sql`
    insert into master_skills (number, name, source, source_id)
    select number, name, ${source}, id from ${rows} as row (number int, name text, id text)`

const updateMasters: Statement = (rows) => sql`
    update master_skills set name = row.name
    from ${rows} as row (number int, name text) where master_skills.number = row.number`

const subSkillRow = ({ number, name, id, master }: SubSkillPlan) => ({ number, name, id, master: master.number })

const insertSubSkills =
  (source: Source): Statement =>
  (rows) =>
    sql`
    insert into sub_skills (number, master_number, name, source, source_id)
    select number, master, name, ${source}, id from ${rows} as row (number int, master int, name text, id text)`

const updateSubSkills: Statement = (rows) => sql`
    update sub_skills set name = row.name, master_number = row.master
    from ${rows} as row (number int, master int, name text) where sub_skills.number = row.number`

export interface SkillRow {
  number: number | undefined
  sub: number | undefined
  name: string
  key: string
  editedName: string | null
  description: string
  aliases: string[]
  verifiable: boolean
}

const skillRow = ({ number, sub, name, key, edits, description, aliases, verifiable }: SkillPlan): SkillRow => {
  return { number, sub: sub.number, name, key, editedName: edits.name, description, aliases, verifiable }
}

const skillColumns = sql`number int, sub int, name text, key text, "editedName" text, description text, aliases text[], verifiable boolean`

/** Replaces the name keys that will change with temporary ones, so that the new keys are free. */
const releaseNames: Statement = (rows) => sql`
    update skills set name_key = '#' || row.number
    from ${rows} as row (number int, key text) where skills.number = row.number and skills.name_key <> row.key`

const updateSkills =
  (now: Date): Statement =>
  (rows) =>
    sql`
    update skills set sub_number = row.sub, name = row.name, name_key = row.key, description = row.description,
      edited_name = row."editedName", aliases = row.aliases, verifiable = row.verifiable, withdrawn = false, revision = skills.revision + 1, updated_at = ${now}
    from ${rows} as row (${skillColumns}) where skills.number = row.number`

const insertSkills =
  (now: Date): Statement =>
  (rows) =>
    sql`
    insert into skills (number, sub_number, name, name_key, description, aliases, verifiable, created_at, updated_at)
    select number, sub, name, key, description, aliases, verifiable, ${now}::timestamptz, ${now}::timestamptz
    from ${rows} as row (${skillColumns})`

const sourceRow = ({ source, id, owner, name, aliases, formerLabels, verifiable, skill }: SourcePlan) => {
  return { source, id, owner, name, aliases, former_labels: formerLabels, verifiable, skill: skill.number }
}

const insertSources: Statement = (rows) => sql`
    insert into skill_sources (source, source_id, skill_number, owner, name, aliases, verifiable)
    select source, id, skill, owner, name, aliases, verifiable from ${rows}
      as row (source text, id text, skill int, owner boolean, name text, aliases text[], verifiable boolean)`

const deleteSources: Statement = (rows) => sql`
    delete from skill_sources using ${rows} as row (source text, id text)
    where skill_sources.source = row.source and skill_sources.source_id = row.id`

const updateSources: Statement = (rows) => sql`
    update skill_sources set name = row.name, aliases = row.aliases, former_labels = row.former_labels, verifiable = row.verifiable
    from ${rows} as row (source text, id text, name text, aliases text[], former_labels text[], verifiable boolean)
    where skill_sources.source = row.source and skill_sources.source_id = row.id`

async function assignNumbers(tx: Tx, sequence: string, plans: { number: number | undefined }[]): Promise<void> {
  const unnumberedPlans = plans.filter((plan) => plan.number === undefined)
  if (unnumberedPlans.length === 0) return
  const { rows } = await sql<{ number: number }>`
    select nextval(${sequence}::regclass)::int as number from generate_series(1, ${unnumberedPlans.length}::int)`.execute(
    tx,
  )
  unnumberedPlans.forEach((plan, i) => {
    plan.number = rows[i]!.number
  })
}
