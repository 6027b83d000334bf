import { sql } from 'kysely'
import type { SkillQuestions } from '../catalogue/skill-questions.ts'
import type { Queries } from '../platform/database/database.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'

/** Returns the questions about these skills, or about all skills: whether the built-in bank has any, and the counts of those of organisations. */
export async function readQuestionsOfSkills(queries: Queries, numbers: number[] | 'all'): Promise<SkillQuestions> {
  const bank = await loadBank()
  const isRequested = numbers === 'all' ? sql`true` : sql`skill_number = any (${numbers}::integer[])`
  const { rows } = await sql<{ skill_number: number; questions: number; organisations: number }>`
    select skill_number, sum(questions)::int as questions, count(*) filter (where active >= ${MIN_ACTIVE_ITEMS})::int as organisations
    from (
      select skill_number, org_id, count(*) as questions, count(*) filter (where status = 'active' and source = 'private') as active
      from skill_items where status <> 'retired' and ${isRequested} group by skill_number, org_id) counted
    group by skill_number`.execute(queries)
  return {
    hasBuiltIn: (number) => bank.has(number),
    own: new Map(rows.map(({ skill_number, ...counts }) => [skill_number, counts])),
  }
}
