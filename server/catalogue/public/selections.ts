import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { invalid } from '../../platform/http/validation.ts'
import { masterSkillId, skillNumber, subSkillId } from '../ids.ts'
import type { Snapshot } from '../snapshot.ts'

/** One user's choice of one skill. */
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

export interface Stretch {
  offset: number
  limit: number
}

const columns = [
  'selected_skill_id',
  'user_id',
  'skill_number',
  'sub_number',
  'master_number',
  'created_at',
  'updated_at',
] as const

export async function selectSkill(tx: Tx, snapshot: Snapshot, clock: Clock, input: SelectionInput): Promise<Selection> {
  const { number, sub } = getSkill(snapshot, input)
  const now = new Date(clock.now())
  const made = await tx
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
    .returning(columns)
    .executeTakeFirst()
  if (!made) throw problem('CONFLICT', `This user has already selected ${input.skill_id}.`)
  return made
}

/** The skill that is named, provided that the other two ids are those of its parents. */
function getSkill(snapshot: Snapshot, { skill_id, sub_skill_id, master_skill_id }: SelectionInput) {
  const number = skillNumber(skill_id)
  const skill = number === undefined ? undefined : snapshot.skill(number)
  if (!skill) throw problem('NOT_FOUND', `There is no skill ${JSON.stringify(skill_id.slice(0, 40))}.`)
  const belongs = (path: string, given: string, right: string) =>
    given === right ? [] : [{ path, message: `must be ${right}, to which ${skill_id} belongs` }]
  const details = [
    ...belongs('sub_skill_id', sub_skill_id, subSkillId(skill.sub.number)),
    ...belongs('master_skill_id', master_skill_id, masterSkillId(skill.sub.master.number)),
  ]
  if (details.length > 0) throw invalid(details)
  return skill
}

export async function getSelection(tx: Queries, id: string): Promise<Selection> {
  const found = await tx
    .selectFrom('selected_skills')
    .select(columns)
    .where('selected_skill_id', '=', id)
    .executeTakeFirst()
  if (!found) throw notFound(id)
  return found
}

/** For good: there is no way back but selecting the skill again. */
export async function deleteSelection(tx: Tx, id: string): Promise<Selection> {
  const gone = await tx
    .deleteFrom('selected_skills')
    .where('selected_skill_id', '=', id)
    .returning(columns)
    .executeTakeFirst()
  if (!gone) throw notFound(id)
  return gone
}

function notFound(id: string) {
  return problem('NOT_FOUND', `There is no selected skill ${id}.`)
}

/** Some of a user's selections, newest first, and how many there are: of one moment, so that the two never contradict each other. */
export async function listSelections(
  tx: Queries,
  userId: string,
  { offset, limit }: Stretch,
): Promise<{ selections: Selection[]; count: number }> {
  const { rows } = await sql<{ count: number } & (Selection | Record<keyof Selection, null>)>`
    select counted.count, page.*
    from (select count(*)::integer as count from selected_skills where user_id = ${userId}) counted
    left join lateral (
      select ${sql.join(columns.map((column) => sql.ref(column)))} from selected_skills where user_id = ${userId}
      order by created_at desc, selected_skill_id desc offset ${offset} limit ${limit}
    ) page on true
    order by page.created_at desc, page.selected_skill_id desc`.execute(tx)
  const selections = rows.flatMap(({ count: _, ...row }) => (row.selected_skill_id === null ? [] : [row as Selection]))
  return { selections, count: rows[0]!.count }
}

export interface SelectionTotals {
  selections: number
  users: number
  /** Different skills that somebody has selected. */
  skills: number
}

export async function totalSelections(tx: Queries): Promise<SelectionTotals> {
  return tx
    .selectFrom('selected_skills')
    .select(({ fn }) => [
      fn.countAll<number>().as('selections'),
      fn.count<number>('user_id').distinct().as('users'),
      fn.count<number>('skill_number').distinct().as('skills'),
    ])
    .executeTakeFirstOrThrow()
}

/** The skills that most users have selected. */
export async function topSkills(
  tx: Queries,
  { offset, limit }: Stretch,
): Promise<{ skill_number: number; selections: number }[]> {
  return tx
    .selectFrom('selected_skills')
    .select(({ fn }) => ['skill_number', fn.countAll<number>().as('selections')])
    .groupBy('skill_number')
    .orderBy('selections', 'desc')
    .orderBy('skill_number')
    .offset(offset)
    .limit(limit)
    .execute()
}
