import { sql } from 'kysely'
import { isSameSkill, readSkillFamilies } from '../catalogue/skill-families.ts'
import type { SkillQuestions } from '../catalogue/skill-questions.ts'
import type { Queries } from '../platform/database/database.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'

/** Returns the questions about these surviving skills, or about all of them, with those about the skills that were merged into them: whether the built-in bank has any, and the counts of those of organisations. */
export async function readQuestionsOfSkills(queries: Queries, numbers: number[] | 'all'): Promise<SkillQuestions> {
  const bank = await loadBank()
  const families = await readSkillFamilies(queries, numbers)
  const isRequested = numbers === 'all' ? sql`true` : isSameSkill('i.skill_number', numbers)
  const { rows } = await sql<{ skill_number: number; questions: number; organisations: number }>`
    select skill_number, sum(questions)::int as questions, count(*) filter (where active >= ${MIN_ACTIVE_ITEMS})::int as organisations
    from (
      select coalesce(survivor_number, i.skill_number) as skill_number, org_id, count(*) as questions,
        count(*) filter (where status = 'active' and source = 'private') as active
      from skill_items i left join skill_merges m on m.skill_number = i.skill_number
      where status <> 'retired' and ${isRequested} group by 1, 2) counted
    group by skill_number`.execute(queries)
  return {
    hasBuiltIn: (number) => families.numbersOf(number).some((same) => bank.has(same)),
    own: new Map(rows.map(({ skill_number, ...counts }) => [skill_number, counts])),
  }
}
