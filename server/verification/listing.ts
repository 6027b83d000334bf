import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Queries } from '../platform/database/database.ts'
import type { VerificationMethod, VerificationStatus } from './schema.ts'

/** A verification session in the console's list. */
export interface ListedSession {
  verification_id: string
  external_student_id: string
  student_name: string
  status: VerificationStatus
  method: VerificationMethod | null
  skills: number
  created_at: Date
  updated_at: Date
  completed_at: Date | null
  expires_at: Date
}

/** Creation time and ID of the last session on a page. */
export interface SessionPosition {
  at: string
  id: string
}

export interface SessionFilter {
  status?: VerificationStatus | undefined
  /** Restricts the list to one session. */
  id?: string | undefined
  /** Last session on the previous page. */
  after?: SessionPosition | undefined
  limit: number
}

/** Lists sessions, newest first. Expiry is computed here, because a job stores it only later. */
export async function listSessions(
  queries: Queries,
  { orgId, mode }: OrgScope,
  at: number,
  { status, id, after, limit }: SessionFilter,
): Promise<ListedSession[]> {
  const now = sql`coalesce((select now_at from test_clocks k where k.test_clock_id = s.test_clock_id), ${new Date(at)})`
  const isExpired = sql`(s.status = 'open' and s.expires_at <= ${now}
    or s.status = 'pending_review' and r.submitted_at is null and r.expires_at <= ${now})`
  const conditions = [sql`s.org_id = ${orgId} and s.mode = ${mode}`]
  if (id !== undefined) conditions.push(sql`s.verification_id = ${id}`)
  if (status === 'expired') conditions.push(sql`(s.status = 'expired' or ${isExpired})`)
  else if (status !== undefined) conditions.push(sql`s.status = ${status} and ${isExpired} is not true`)
  if (after !== undefined) {
    const lastCreatedAt = new Date(after.at)
    conditions.push(
      sql`s.created_at <= ${lastCreatedAt} and (s.created_at < ${lastCreatedAt} or s.verification_id > ${after.id})`,
    )
  }
  const { rows } = await sql<ListedSession>`
    select s.verification_id, s.student ->> 'externalStudentId' as external_student_id, s.student ->> 'name' as student_name,
      case when ${isExpired} then 'expired' else s.status end as status, s.method, cardinality(s.skill_numbers) as skills,
      s.created_at, s.updated_at, s.completed_at, s.expires_at
    from verification_sessions s left join verification_reviews r using (verification_id)
    where ${sql.join(conditions, sql` and `)}
    order by s.created_at desc, s.verification_id limit ${limit}`.execute(queries)
  return rows
}
