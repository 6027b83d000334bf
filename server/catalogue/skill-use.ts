import { sql } from 'kysely'
import type { Queries } from '../platform/database/database.ts'
import { skillId } from './ids.ts'

/** How many records refer to skills, in all organisations. */
export interface SkillUse {
  /** Mandates that are not archived. */
  mandates: number
  /** Verification sessions. */
  sessions: number
  /** Selections of the public API. */
  selected_skills: number
}

/** Counts the records that refer to any of these skills. Reads all mandates. */
export async function countSkillUse(queries: Queries, numbers: readonly number[]): Promise<SkillUse> {
  // A body is a JSON text without spaces. The database searches it faster than it parses it.
  const patterns = numbers.map((number) => `%"skill\\_id":"${skillId(number).replace('_', '\\_')}"%`)
  const { rows } = await sql<SkillUse>`
    select
      (select count(*)::int from mandates where status <> 'archived' and body like any (${patterns}::text[])) as mandates,
      (select count(distinct session)::int from unnest(${[...numbers]}::integer[]) as number, sessions_with_skill(number) as session) as sessions,
      (select count(*)::int from selected_skills where skill_number = any (${[...numbers]}::integer[])) as selected_skills`.execute(
    queries,
  )
  return rows[0]!
}
