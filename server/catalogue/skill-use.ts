import { sql } from 'kysely'
import type { Queries } from '../platform/database/database.ts'
import { skillId } from './ids.ts'

/** How many records refer to a skill, in all organisations. */
export interface SkillUse {
  /** Mandates that are not archived. */
  mandates: number
  /** Verification sessions. */
  sessions: number
  /** Selections of the public API. */
  selected_skills: number
}

/** Counts the records that refer to a skill. Reads all mandates. */
export async function countSkillUse(queries: Queries, number: number): Promise<SkillUse> {
  // A body is a JSON text without spaces. The database searches it faster than it parses it.
  const pattern = `%"skill\\_id":"${skillId(number).replace('_', '\\_')}"%`
  const { rows } = await sql<SkillUse>`
    select
      (select count(*)::int from mandates where status <> 'archived' and body like ${pattern}) as mandates,
      (select count(*)::int from sessions_with_skill(${number})) as sessions,
      (select count(*)::int from selected_skills where skill_number = ${number}) as selected_skills`.execute(queries)
  return rows[0]!
}
