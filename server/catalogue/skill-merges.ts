import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { skillId } from './ids.ts'
import { distinctAliases, sameLabel } from './names.ts'
import { readSkillFamilies } from './skill-families.ts'
import { countSkillUse, type SkillUse } from './skill-use.ts'
import { inheritedAliases } from './skill-values.ts'
import { incrementCatalogueVersion, lockCatalogue } from './store.ts'

interface NamedSkill {
  number: number
  name: string
}

/** The effects of merging a skill into another one, for the operator to confirm. */
export interface MergeEffects {
  skill: NamedSkill
  into: NamedSkill
  /** Labels that become aliases of the surviving skill. */
  newAliases: string[]
  /** Skills that were merged into the skill earlier, and become the surviving skill too. */
  earlierMerged: number[]
  use: SkillUse
  questions: number
}

/** A merged skill, as its surviving skill lists it. */
export interface SkillMerge extends NamedSkill {
  aliases: string[]
  into: NamedSkill
  mergedAt: Date
}

/**
 * Merges a skill into another one. Its ID stays valid and means the surviving skill. No records are changed, so that the merge can be
 * undone. Throws if one of the skills does not exist or was merged already.
 */
export async function mergeSkill(
  tx: Tx,
  clock: Clock,
  number: number,
  into: number,
): Promise<{ name: string; into_name: string }> {
  await lockCatalogue(tx)
  const { skill, survivor } = await getSkillsToMerge(tx, number, into)
  await tx
    .insertInto('skill_merges')
    .values({
      skill_number: number,
      into_number: into,
      survivor_number: into,
      merged_at: new Date(clock.now()),
    })
    .execute()
  await tx.updateTable('skill_merges').set({ survivor_number: into }).where('survivor_number', '=', number).execute()
  await markChanged(tx, clock, [number, into])
  return { name: skill.name, into_name: survivor.name }
}

/**
 * Undoes the merge of a skill. Skills that were merged into it become the same skill as it again. Throws if the skill is not merged.
 */
export async function undoMerge(tx: Tx, clock: Clock, number: number): Promise<{ name: string; into_name: string }> {
  await lockCatalogue(tx)
  const skill = await getSkill(tx, number)
  const merge = await tx
    .deleteFrom('skill_merges')
    .where('skill_number', '=', number)
    .returning(['into_number', 'survivor_number'])
    .executeTakeFirst()
  if (!merge) throw problem('CONFLICT', `${skillId(number)} is not merged into another skill.`)
  await sql`
    with recursive chain as (
      select skill_number from skill_merges where into_number = ${number}
      union
      select m.skill_number from skill_merges m join chain on m.into_number = chain.skill_number)
    update skill_merges set survivor_number = ${number} where skill_number in (select skill_number from chain)`.execute(
    tx,
  )
  await markChanged(tx, clock, [number, merge.survivor_number])
  return { name: skill.name, into_name: (await getSkill(tx, merge.into_number)).name }
}

/** Returns the effects of a merge without merging. Throws the same errors as `mergeSkill`. */
export async function describeMerge(queries: Queries, number: number, into: number): Promise<MergeEffects> {
  const { skill, survivor } = await getSkillsToMerge(queries, number, into)
  const families = await readSkillFamilies(queries, [number])
  const numbers = families.numbersOf(number)
  const { rows: labels } = await sql<{ name: string; aliases: string[] }>`
    select name, aliases from skills where number = any (${numbers}::integer[]) order by number <> ${number}, number`.execute(
    queries,
  )
  const { rows: survivorLabels } = await sql<{ label: string }>`
    select unnest(name || aliases) as label from skills
    where number = any ((select same_skills(array[${into}::integer]))::integer[])`.execute(queries)
  const { removed_aliases } = await queries
    .selectFrom('skills')
    .select('removed_aliases')
    .where('number', '=', into)
    .executeTakeFirstOrThrow()
  const { rows: questions } = await sql<{ count: number }>`
    select count(*)::int as count from skill_items where status <> 'retired' and skill_number = any (${numbers}::integer[])`.execute(
    queries,
  )
  const existing = survivorLabels.map(({ label }) => label)
  return {
    skill: { number, name: skill.name },
    into: { number: into, name: survivor.name },
    newAliases: distinctAliases('', inheritedAliases(labels, removed_aliases)).filter(
      (label) => !existing.some((other) => sameLabel(other, label)),
    ),
    earlierMerged: numbers.filter((other) => other !== number),
    use: await countSkillUse(queries, numbers),
    questions: questions[0]!.count,
  }
}

/** Returns the merges of a skill: the one that made it another skill, and those of the skills that are the same as it now. */
export async function readMerges(
  queries: Queries,
  number: number,
): Promise<{ mergedInto: (NamedSkill & { mergedAt: Date }) | undefined; mergedSkills: SkillMerge[] }> {
  const { rows } = await sql<{
    number: number
    name: string
    aliases: string[]
    into_number: number
    into_name: string
    survivor_number: number
    survivor_name: string
    merged_at: Date
  }>`
    select m.skill_number as number, s.name, case when s.withdrawn then '{}' else s.aliases end as aliases, m.into_number, i.name as into_name, m.survivor_number, v.name as survivor_name,
      m.merged_at
    from skill_merges m join skills s on s.number = m.skill_number join skills i on i.number = m.into_number
      join skills v on v.number = m.survivor_number
    where m.skill_number = ${number} or m.survivor_number = ${number} order by m.skill_number`.execute(queries)
  const own = rows.find((row) => row.number === number)
  return {
    mergedInto: own && { number: own.survivor_number, name: own.survivor_name, mergedAt: own.merged_at },
    mergedSkills: rows
      .filter((row) => row.survivor_number === number)
      .map(({ number: merged, name, aliases, into_number, into_name, merged_at }) => ({
        number: merged,
        name,
        aliases,
        into: { number: into_number, name: into_name },
        mergedAt: merged_at,
      })),
  }
}

/** Throws if a skill was merged into another one, because changes of it would have no visible effect. */
export async function requireNotMerged(queries: Queries, number: number): Promise<void> {
  const { mergedInto } = await readMerges(queries, number)
  if (mergedInto)
    throw problem(
      'CONFLICT',
      `${skillId(number)} has been merged into ${mergedInto.name} (${skillId(mergedInto.number)}). Change that skill, or undo the merge.`,
    )
}

/** Reloads the catalogue and the skills with own questions of this process after a merge. Other processes are notified. */
export async function refreshAfterMerge({ catalogue, ownSkills }: Pick<Context, 'catalogue' | 'ownSkills'>) {
  await catalogue.refreshAfterChange()
  await ownSkills.refresh()
}

async function getSkillsToMerge(queries: Queries, number: number, into: number) {
  const [skill, survivor] = [await getSkill(queries, number), await getSkill(queries, into)]
  requireListed(skill)
  requireListed(survivor)
  if (number === into)
    throw problem('CONFLICT', `${skillId(number)} cannot be merged into itself. Choose another skill.`)
  const families = await readSkillFamilies(queries, [number, into])
  const survivorOfSkill = families.survivorOf(number)
  const survivorOfInto = families.survivorOf(into)
  if (survivorOfSkill !== number)
    throw problem('CONFLICT', `${skillId(number)} has already been merged into ${skillId(survivorOfSkill)}.`)
  if (survivorOfInto === number)
    throw problem(
      'CONFLICT',
      `${skillId(into)} was merged into ${skillId(number)}, so they are the same skill. To keep the other one, undo that merge first.`,
    )
  if (survivorOfInto !== into)
    throw problem(
      'CONFLICT',
      `${skillId(into)} has been merged into ${skillId(survivorOfInto)}. Merge into ${skillId(survivorOfInto)} instead.`,
    )
  return { skill, survivor }
}

/** Throws if a skill is withdrawn, because changes of it would have no visible effect. */
export function requireListed({ number, withdrawn }: { number: number; withdrawn: boolean }): void {
  if (withdrawn)
    throw problem(
      'CONFLICT',
      `${skillId(number)} was withdrawn when the import that had added it was undone. Import it again, or choose another skill.`,
    )
}

async function getSkill(queries: Queries, number: number): Promise<NamedSkill & { withdrawn: boolean }> {
  const skill = await queries
    .selectFrom('skills')
    .select(['number', 'name', 'withdrawn'])
    .where('number', '=', number)
    .executeTakeFirst()
  if (!skill) throw problem('NOT_FOUND', `Skill ${skillId(number)} not found.`)
  return skill
}

/** Lets running servers reload the catalogue and the skills with own questions, and rejects changes that were prepared before. */
async function markChanged(tx: Tx, clock: Clock, numbers: number[]): Promise<void> {
  await tx
    .updateTable('skills')
    .set((eb) => ({ revision: eb('revision', '+', 1), updated_at: new Date(clock.now()) }))
    .where('number', 'in', numbers)
    .execute()
  await sql`select pg_notify('skill_items_changed', '')`.execute(tx)
  await incrementCatalogueVersion(tx)
}
