import { sql } from 'kysely'
import type { Queries } from '../../platform/database/database.ts'

/** How many records of each kind refer to withdrawn skills, in all organisations. */
interface RecordCounts {
  /** Mandates that are not archived. */
  mandates: number
  /** Verification sessions. */
  sessions: number
  /** Verifications in which a reviewer endorsed one of the skills. */
  endorsements: number
  credentials: number
  /** Questions of organisations. */
  questions: number
  /** Selections of the public API. */
  selected_skills: number
}

export interface UseOfSkills {
  /** Number of skills that at least one record refers to. */
  skills: number
  first: { number: number; name: string }[]
  records: RecordCounts
}

/** Counts the records that refer to any of these skills, which can be tens of thousands. Reads the records that are newer than the skills. */
export async function countUseOfSkills(
  queries: Queries,
  numbers: readonly number[],
  maxListed: number,
): Promise<UseOfSkills> {
  const { rows } = await sql<{ kind: keyof RecordCounts; records: number; numbers: number[] }>`
    with found as materialized (select number, created_at from skills where number = any (${[...numbers]}::integer[])),
    oldest as materialized (select min(created_at) as at from found),
    used as (
      select 'mandates' as kind, mandate_id as id, number
      from mandates cross join lateral json_array_elements(body::json -> 'skills') as skill
        join found on skill ->> 'skill_id' = 'sk_' || number
      where status <> 'archived' and updated_at >= (select at from oldest)
      union all
      select 'sessions', verification_id, found.number
      from verification_sessions cross join lateral unnest(skill_numbers) as used (number) join found on found.number = used.number
      where updated_at >= (select at from oldest)
      union all
      select 'endorsements', verification_id, found.number
      from verification_reviews cross join lateral unnest(endorsed) as used (number) join found on found.number = used.number
      where submitted_at >= (select at from oldest)
      union all
      select 'credentials', credential_id, number from credentials join found on number = skill_number
      union all
      select 'questions', item_id::text, number from skill_items join found on number = skill_number where status <> 'retired'
      union all
      select 'selected_skills', selected_skill_id::text, number from selected_skills join found on number = skill_number)
    select kind, count(distinct id)::int as records, array_agg(distinct number) as numbers from used group by kind`.execute(
    queries,
  )
  const usedNumbers = [...new Set(rows.flatMap((row) => row.numbers))].sort((a, b) => a - b)
  const records = { mandates: 0, sessions: 0, endorsements: 0, credentials: 0, questions: 0, selected_skills: 0 }
  for (const row of rows) records[row.kind] = row.records
  const { rows: first } = await sql<{ number: number; name: string }>`
    select number, name from skills where number = any (${usedNumbers.slice(0, maxListed)}::integer[]) order by number`.execute(
    queries,
  )
  return { skills: usedNumbers.length, first, records }
}
