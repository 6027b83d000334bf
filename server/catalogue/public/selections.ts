import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { masterSkillId, skillId, subSkillId } from '../ids.ts'
import type { LoadedSkills } from '../loaded-skills.ts'
import { isSameSkill } from '../skill-families.ts'
import type { PageWindow } from './page-numbers.ts'

/** A skill that a user has selected. */
export interface Selection {
  selected_skill_id: string
  user_id: string
  skill_number: number
  sub_number: number
  master_number: number
  created_at: Date
  updated_at: Date
}

export interface SelectionInput {
  user_id: string
  skill_id: string
  sub_skill_id: string
  master_skill_id: string
}

const selectionColumns = [
  'selected_skill_id',
  'user_id',
  'skill_number',
  'sub_number',
  'master_number',
  'created_at',
  'updated_at',
] as const

export async function selectSkill(
  tx: Tx,
  skills: LoadedSkills,
  clock: Clock,
  input: SelectionInput,
): Promise<Selection> {
  const { number, sub } = getSkill(skills, input)
  // Selections of a skill that was merged into this one count, too.
  const existing = await tx
    .selectFrom('selected_skills')
    .select('selected_skill_id')
    .where('user_id', '=', input.user_id)
    .where(isSameSkill('skill_number', [number]))
    .executeTakeFirst()
  if (existing) throw problem('CONFLICT', `This user has already selected ${input.skill_id}.`)
  const now = new Date(clock.now())
  const selection = await tx
    .insertInto('selected_skills')
    .values({
      selected_skill_id: randomUUID(),
      user_id: input.user_id,
      skill_number: number,
      sub_number: sub.number,
      master_number: sub.master.number,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['user_id', 'skill_number']).doNothing())
    .returning(selectionColumns)
    .executeTakeFirst()
  if (!selection) throw problem('CONFLICT', `This user has already selected ${input.skill_id}.`)
  return selection
}

/**
 * Returns the selected skill. Throws if it does not exist, or if the other two IDs are not those of its sub-skill and master skill. The IDs
 * of a merged skill may be sent with those of its former place.
 */
function getSkill(skills: LoadedSkills, { skill_id, sub_skill_id, master_skill_id }: SelectionInput) {
  const skill = skills.byId(skill_id)
  if (!skill) throw problem('NOT_FOUND', `Skill ${JSON.stringify(skill_id.slice(0, 40))} not found.`)
  const former = skill.merged?.find(({ number }) => skillId(number) === skill_id)?.sub
  if (former && subSkillId(former.number) === sub_skill_id && masterSkillId(former.master.number) === master_skill_id)
    return skill
  const checkId = (path: string, actual: string, expected: string) =>
    actual === expected ? [] : [{ path, message: `must be ${expected} for ${skill_id}` }]
  const details = [
    ...checkId('sub_skill_id', sub_skill_id, subSkillId(skill.sub.number)),
    ...checkId('master_skill_id', master_skill_id, masterSkillId(skill.sub.master.number)),
  ]
  if (details.length > 0) throw invalid(details)
  return skill
}

export async function getSelection(tx: Queries, id: string): Promise<Selection> {
  const selection = await tx
    .selectFrom('selected_skills')
    .select(selectionColumns)
    .where('selected_skill_id', '=', id)
    .executeTakeFirst()
  if (!selection) throw selectionNotFoundProblem(id)
  return selection
}

export async function deleteSelection(tx: Tx, id: string): Promise<Selection> {
  const selection = await tx
    .deleteFrom('selected_skills')
    .where('selected_skill_id', '=', id)
    .returning(selectionColumns)
    .executeTakeFirst()
  if (!selection) throw selectionNotFoundProblem(id)
  return selection
}

function selectionNotFoundProblem(id: string) {
  return problem('NOT_FOUND', `Selected skill ${id} not found.`)
}

/** Reads a page of a user's selections, newest first, and their total number, in one query so that the two are consistent. */
export async function listSelections(
  tx: Queries,
  userId: string,
  { offset, limit }: PageWindow,
): Promise<{ selections: Selection[]; count: number }> {
  const { rows } = await sql<{ count: number } & (Selection | Record<keyof Selection, null>)>`
    select counted.count, page.*
    from (select count(*)::integer as count from selected_skills where user_id = ${userId}) counted
    left join lateral (
      select ${sql.join(selectionColumns.map((column) => sql.ref(column)))} from selected_skills where user_id = ${userId}
      order by created_at desc, selected_skill_id desc offset ${offset} limit ${limit}
    ) page on true
    order by page.created_at desc, page.selected_skill_id desc`.execute(tx)
  const selections = rows.flatMap(({ count: _, ...row }) => (row.selected_skill_id === null ? [] : [row as Selection]))
  return { selections, count: rows[0]!.count }
}

export interface SelectionTotals {
  selections: number
  users: number
  /** Number of different skills that are selected. */
  skills: number
}

export async function countSelections(tx: Queries): Promise<SelectionTotals> {
  return tx
    .selectFrom('selected_skills')
    .leftJoin('skill_merges', 'skill_merges.skill_number', 'selected_skills.skill_number')
    .select(({ fn }) => [
      fn.countAll<number>().as('selections'),
      fn.count<number>('user_id').distinct().as('users'),
      sql<number>`count(distinct coalesce(survivor_number, selected_skills.skill_number))`.as('skills'),
    ])
    .executeTakeFirstOrThrow()
}

/** Lists selected skills by the number of their selections, highest first. */
export async function listTopSkills(
  tx: Queries,
  { offset, limit }: PageWindow,
): Promise<{ skill_number: number; selections: number }[]> {
  const { rows } = await sql<{ skill_number: number; selections: number }>`
    select coalesce(survivor_number, s.skill_number) as skill_number, count(*)::int as selections
    from selected_skills s left join skill_merges m on m.skill_number = s.skill_number
    group by 1 order by selections desc, 1 offset ${offset} limit ${limit}`.execute(tx)
  return rows
}
