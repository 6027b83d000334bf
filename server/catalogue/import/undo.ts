import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { skillId } from '../ids.ts'
import { nameKey } from '../names.ts'
import { combineValues, type SkillEdits, type SourceValues } from '../skill-values.ts'
import { incrementCatalogueVersion, lockCatalogue } from '../store.ts'
import type { Source } from '../taxonomy.ts'
import { type CatalogueImport, getImport, MAX_UNDOABLE_IMPORTS, markUndone } from './import-records.ts'
import { countUseOfSkills, type UseOfSkills } from './undo-use.ts'
import { type SkillRow, updateStoredSkills } from './write.ts'

const SKILLS_PER_QUERY = 1000
const MAX_SHOWN_SKILLS = 20

/** The effects of undoing an import, for the operator to confirm. */
export interface UndoEffects {
  import: CatalogueImport
  /** Skills that the import added and that are withdrawn. */
  withdrawnSkills: number
  /** Skills that the import added and that stay, because they have another source since. */
  keptSkills: number
  withdrawnGroups: number
  restoredGroups: number
  /** Skills that get back previous values, of any kind. */
  restoredSkills: number
  restoredNames: number
  restoredAliases: number
  restoredPlaces: number
  restoredDescriptions: number
  /** The first skills whose name changes. */
  renamed: { number: number; name: string; restoredName: string }[]
  /** Records that refer to withdrawn skills. */
  use: UseOfSkills
}

/** A skill that stays in the catalogue, with its values before and after the undo. */
interface RestoredSkill {
  row: SkillRow & { number: number }
  current: { name: string; key: string; sub: number; description: string; aliases: string[]; verifiable: boolean }
  /** Source that becomes the owner, if the undo removes the owner. */
  newOwner: SourceValues | undefined
}

interface UndoPlan {
  import: CatalogueImport
  withdrawn: number[]
  restored: RestoredSkill[]
  keptSkills: number
}

/** Returns the effects of undoing an import, without undoing it. Throws the same errors as `undoImport`. */
export async function describeUndo(queries: Queries, importId: string): Promise<UndoEffects> {
  return describePlan(queries, await planUndo(queries, importId))
}

/**
 * Undoes an import: restores the values that it changed, and withdraws the skills that it added. Changes that operators made since are
 * kept. Throws if the import cannot be undone.
 */
export async function undoImport(tx: Tx, clock: Clock, importId: string, undoneBy: string): Promise<UndoEffects> {
  await lockCatalogue(tx)
  const plan = await planUndo(tx, importId)
  const effects = await describePlan(tx, plan)
  const now = new Date(clock.now())
  await withdrawSkills(tx, plan, now)
  await restoreSources(tx, plan)
  await updateStoredSkills(
    tx,
    plan.restored.filter(differs).map(({ row }) => row),
    now,
  )
  await restoreGroups(tx, importId)
  await markUndone(tx, importId, undoneBy, now)
  await incrementCatalogueVersion(tx)
  return effects
}

async function planUndo(queries: Queries, importId: string): Promise<UndoPlan> {
  const catalogueImport = await getImport(queries, importId)
  await requireUndoable(queries, catalogueImport)
  const { format } = catalogueImport
  // A skill stays if it has a source that the import did not add, such as an approved request.
  const { rows: added } = await sql<{ number: number; stays: boolean }>`
    select c.number, exists (
        select from skill_sources s left join skill_import_changes a
          on a.import_id = ${importId} and a.kind = 'source' and a.number = s.skill_number and a.source_id = s.source_id
            and a.before is null and s.source = ${format}
        where s.skill_number = c.number and a.import_id is null) as stays
    from skill_import_changes c
    where c.import_id = ${importId} and c.kind = 'skill' and c.before is null order by c.number`.execute(queries)
  const withdrawn = added.filter(({ stays }) => !stays).map(({ number }) => number)
  await requireNoSurvivors(queries, withdrawn)
  const withdrawnNumbers = new Set(withdrawn)
  const { rows: affected } = await sql<{ number: number }>`
    select distinct number from skill_import_changes
    where import_id = ${importId} and kind in ('skill', 'source') order by number`.execute(queries)
  const numbers = affected.map(({ number }) => number).filter((number) => !withdrawnNumbers.has(number))
  const restored: RestoredSkill[] = []
  for (let start = 0; start < numbers.length; start += SKILLS_PER_QUERY)
    restored.push(
      ...(await readRestoredSkills(queries, catalogueImport, numbers.slice(start, start + SKILLS_PER_QUERY))),
    )
  const plan = { import: catalogueImport, withdrawn, restored, keptSkills: added.length - withdrawn.length }
  await requireFreeNames(queries, plan)
  return plan
}

async function requireUndoable(queries: Queries, row: CatalogueImport): Promise<void> {
  const { import_id: id, can_undo, status, dry_run, undone_at, undone_by, version, changed_rows } = row
  if (can_undo) return
  const reject = (reason: string) => problem('CONFLICT', `Import ${id} ${reason}`)
  if (undone_at) throw reject(`was already undone at ${undone_at.toISOString()} by ${undone_by}.`)
  if (dry_run) throw reject('was a dry run and changed nothing.')
  if (status === 'failed') throw reject('failed and changed nothing.')
  if (version === null && status === 'running') throw reject('is still running. Wait until it finishes.')
  if (version === null)
    throw reject(
      'cannot be undone: it was made by a version of Attestry that did not store the previous values. Import the previous edition again.',
    )
  if (changed_rows === 0) throw reject('changed nothing, so that there is nothing to undo.')
  const newer = await queries
    .selectFrom('catalogue_imports')
    .select(['import_id', 'file_name'])
    .where('version', '>', version)
    .where('changed_rows', '>', 0)
    .where('undone_at', 'is', null)
    .orderBy('version', 'desc')
    .executeTakeFirst()
  if (newer)
    throw reject(
      `is not the latest import: ${newer.import_id} (${newer.file_name}) was made after it and may have changed the same skills. Undo that one first.`,
    )
  throw reject(
    `cannot be undone: the previous values are stored for the ${MAX_UNDOABLE_IMPORTS} latest imports only. Import the previous edition again.`,
  )
}

/** Throws if another skill was merged into one that would be withdrawn, because that skill could not be found any more. */
async function requireNoSurvivors(queries: Queries, withdrawn: number[]): Promise<void> {
  const { rows } = await sql<{ skill_number: number; survivor_number: number }>`
    select skill_number, survivor_number from skill_merges join skills on number = skill_number
    where survivor_number = any (${withdrawn}::integer[]) and not withdrawn and not skill_number = any (${withdrawn}::integer[])
    order by skill_number limit ${MAX_SHOWN_SKILLS}`.execute(queries)
  if (rows.length === 0) return
  const merges = rows.map((row) => `${skillId(row.skill_number)} into ${skillId(row.survivor_number)}`).join(', ')
  throw problem(
    'CONFLICT',
    `Skills were merged into skills that this import had added: ${merges}. Undo these merges first.`,
  )
}

/** Throws if a restored name belongs to another skill now, such as one that an operator renamed since. */
async function requireFreeNames(queries: Queries, { withdrawn, restored }: UndoPlan): Promise<void> {
  const renamed = new Map(
    restored.filter(({ row, current }) => row.key !== current.key).map(({ row }) => [row.key, row] as const),
  )
  if (renamed.size === 0) return
  const releasing = new Set([...withdrawn, ...[...renamed.values()].map(({ number }) => number)])
  const { rows } = await sql<{ number: number; name: string; name_key: string }>`
    select number, name, name_key from skills where name_key = any (${[...renamed.keys()]}::text[]) and not withdrawn`.execute(
    queries,
  )
  const conflicts = rows.filter(({ number }) => !releasing.has(number)).slice(0, MAX_SHOWN_SKILLS)
  if (conflicts.length === 0) return
  const texts = conflicts.map(
    ({ number, name_key }) =>
      `${skillId(renamed.get(name_key)!.number)} would be called ${JSON.stringify(renamed.get(name_key)!.name)} again, which is the name of ${skillId(number)} now`,
  )
  throw problem(
    'CONFLICT',
    `${texts.join('; ')}. Rename the other ${conflicts.length === 1 ? 'skill' : 'skills'} first.`,
  )
}

interface StoredValues {
  number: number
  name: string
  name_key: string
  sub_number: number
  description: string
  aliases: string[]
  verifiable: boolean
  edited_name: string | null
  added_aliases: string[]
  removed_aliases: string[]
  edited_verifiable: boolean | null
  /** The values before the import that it changed. */
  before: { sub_number?: number; description?: string } | null
}

/** Computes the values of skills after the undo: those of their remaining sources, with the edits of operators on top. */
async function readRestoredSkills(
  queries: Queries,
  { import_id, format }: CatalogueImport,
  numbers: number[],
): Promise<RestoredSkill[]> {
  const { rows: skills } = await sql<StoredValues>`
    select s.number, name, name_key, sub_number, description, aliases, verifiable, edited_name, added_aliases, removed_aliases,
      edited_verifiable, c.before
    from skills s left join skill_import_changes c on c.import_id = ${import_id} and c.kind = 'skill' and c.number = s.number
    where s.number = any (${numbers}::integer[]) order by s.number`.execute(queries)
  const { rows: sources } = await sql<SourceValues & { skill_number: number }>`
    select s.skill_number, s.source, s.source_id as id, s.owner, restored.name, restored.aliases,
      restored.former_labels as "formerLabels", restored.verifiable
    from skill_sources s left join skill_import_changes c
        on c.import_id = ${import_id} and c.kind = 'source' and c.number = s.skill_number and c.source_id = s.source_id
          and s.source = ${format}
      cross join lateral jsonb_populate_record(s, coalesce(c.before, '{}')) as restored
    where s.skill_number = any (${numbers}::integer[]) and (c.import_id is null or c.before is not null)
    order by s.source, s.source_id`.execute(queries)
  const sourcesOfSkills = Map.groupBy(sources, ({ skill_number }) => skill_number)
  return skills.map((skill) => restoreSkill(skill, sourcesOfSkills.get(skill.number) ?? []))
}

function restoreSkill(skill: StoredValues, sources: SourceValues[]): RestoredSkill {
  const edits: SkillEdits = {
    name: skill.edited_name,
    addedAliases: skill.added_aliases,
    removedAliases: skill.removed_aliases,
    verifiable: skill.edited_verifiable,
  }
  const storedOwner = sources.find(({ owner }) => owner)
  const newOwner = storedOwner ? undefined : sources[0]
  const owner = storedOwner ?? newOwner
  const name = edits.name ?? owner?.name ?? skill.name
  const { sub_number: sub = skill.sub_number, description = skill.description } = skill.before ?? {}
  const effectiveSources = sources.map((source) => (source === newOwner ? { ...source, owner: true } : source))
  return {
    row: {
      number: skill.number,
      sub,
      name,
      key: nameKey(name),
      editedName: edits.name,
      description,
      ...combineValues(name, effectiveSources, edits),
    },
    current: { ...skill, key: skill.name_key, sub: skill.sub_number },
    newOwner,
  }
}

async function describePlan(queries: Queries, plan: UndoPlan): Promise<UndoEffects> {
  const { restored, withdrawn } = plan
  const { rows: groups } = await sql<{ added: number; changed: number }>`
    select count(*) filter (where before is null)::int as added, count(*) filter (where before is not null)::int as changed
    from skill_import_changes where import_id = ${plan.import.import_id} and kind in ('master_skill', 'sub_skill')`.execute(
    queries,
  )
  const renamed = restored.filter(({ row, current }) => row.name !== current.name)
  return {
    import: plan.import,
    withdrawnSkills: withdrawn.length,
    keptSkills: plan.keptSkills,
    withdrawnGroups: groups[0]!.added,
    restoredGroups: groups[0]!.changed,
    restoredSkills: restored.filter(differs).length,
    restoredNames: renamed.length,
    restoredAliases: restored.filter(hasOtherAliases).length,
    restoredPlaces: restored.filter(({ row, current }) => row.sub !== current.sub).length,
    restoredDescriptions: restored.filter(({ row, current }) => row.description !== current.description).length,
    renamed: renamed
      .slice(0, MAX_SHOWN_SKILLS)
      .map(({ row, current }) => ({ number: row.number, name: current.name, restoredName: row.name })),
    use: await countUseOfSkills(queries, withdrawn, MAX_SHOWN_SKILLS),
  }
}

function differs({ row, current }: RestoredSkill): boolean {
  return (
    row.name !== current.name ||
    row.sub !== current.sub ||
    row.description !== current.description ||
    row.verifiable !== current.verifiable ||
    hasOtherAliases({ row, current })
  )
}

function hasOtherAliases({ row, current }: Pick<RestoredSkill, 'row' | 'current'>): boolean {
  return row.aliases.length !== current.aliases.length || row.aliases.some((alias, i) => alias !== current.aliases[i])
}

async function withdrawSkills(tx: Tx, { withdrawn }: UndoPlan, now: Date): Promise<void> {
  await sql`
    update skills set withdrawn = true, revision = revision + 1, updated_at = ${now}
    where number = any (${withdrawn}::integer[])`.execute(tx)
}

/** Restores the rows of the sources. A withdrawn skill keeps its own row, so that importing it again finds its number. */
async function restoreSources(tx: Tx, plan: UndoPlan): Promise<void> {
  const { import_id, format } = plan.import
  await sql`
    update skill_sources s set name = restored.name, aliases = restored.aliases, former_labels = restored.former_labels,
      verifiable = restored.verifiable
    from skill_import_changes c cross join lateral jsonb_populate_record(null::skill_sources, c.before) as restored
    where c.import_id = ${import_id} and c.kind = 'source' and c.before is not null
      and s.source = ${format} and s.source_id = c.source_id and s.skill_number = c.number`.execute(tx)
  await sql`
    delete from skill_sources s using skill_import_changes c
    where c.import_id = ${import_id} and c.kind = 'source' and c.before is null
      and s.source = ${format} and s.source_id = c.source_id and s.skill_number = c.number
      and not (s.owner and s.skill_number = any (${plan.withdrawn}::integer[]))`.execute(tx)
  for (const { newOwner } of plan.restored)
    if (newOwner)
      await tx
        .updateTable('skill_sources')
        .set({ owner: true })
        .where('source', '=', newOwner.source as Source)
        .where('source_id', '=', newOwner.id)
        .execute()
}

/** Restores sub-skills and master skills. Those that the import added are listed only while they contain skills. */
async function restoreGroups(tx: Tx, importId: string): Promise<void> {
  const changes = sql`skill_import_changes c where c.import_id = ${importId}`
  await sql`
    update sub_skills s set withdrawn = s.withdrawn or c.before is null, name = coalesce(c.before ->> 'name', s.name),
      master_number = coalesce((c.before ->> 'master_number')::int, s.master_number)
    from ${changes} and c.kind = 'sub_skill' and c.number = s.number`.execute(tx)
  await sql`
    update master_skills s set withdrawn = s.withdrawn or c.before is null, name = coalesce(c.before ->> 'name', s.name)
    from ${changes} and c.kind = 'master_skill' and c.number = s.number`.execute(tx)
}

/** Returns what the audit log records about an undo. */
export function undoAuditDetails({ import: row, withdrawnSkills, restoredSkills }: UndoEffects) {
  const { format, file_name } = row
  return { format, file_name, withdrawn_skills: withdrawnSkills, restored_skills: restoredSkills }
}

/** Returns the effects of an undo, as the APIs show them. */
export function undoRecord({ import: row, use, renamed, ...effects }: UndoEffects) {
  return {
    import_id: row.import_id,
    format: row.format,
    file_name: row.file_name,
    started_by: row.started_by,
    started_at: row.started_at.toISOString(),
    withdrawn_skills: effects.withdrawnSkills,
    kept_skills: effects.keptSkills,
    withdrawn_groups: effects.withdrawnGroups,
    restored_groups: effects.restoredGroups,
    restored_skills: effects.restoredSkills,
    restored_names: effects.restoredNames,
    restored_aliases: effects.restoredAliases,
    restored_places: effects.restoredPlaces,
    restored_descriptions: effects.restoredDescriptions,
    first_renamed: renamed.map(({ number, name, restoredName }) => {
      return { skill_id: skillId(number), name, restored_name: restoredName }
    }),
    skills_in_use: use.skills,
    first_skills_in_use: use.first.map(({ number, name }) => ({ skill_id: skillId(number), name })),
    records: use.records,
  }
}
