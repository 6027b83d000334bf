import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { ERASED, openPersonKey } from '../people/identity/person-key.ts'
import type { Queries } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { openSessionValues } from './personal-values.ts'
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
  /** A verification ID or the partner's ID of the student. */
  search?: string | undefined
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
  { after, limit, ...filter }: SessionFilter,
): Promise<ListedSession[]> {
  const { isExpired, conditions } = sessionConditions({ orgId, mode }, at, filter)
  if (after !== undefined) {
    const lastCreatedAt = new Date(after.at)
    conditions.push(
      sql`s.created_at <= ${lastCreatedAt} and (s.created_at < ${lastCreatedAt} or s.verification_id > ${after.id})`,
    )
  }
  const { rows } = await sql<
    Omit<ListedSession, 'student_name'> & { person_id: string; personal: Buffer | null; sealed_key: Buffer | null }
  >`
    select s.verification_id, s.student ->> 'externalStudentId' as external_student_id, s.person_id, s.personal, o.sealed_key,
      case when ${isExpired} then 'expired' else s.status end as status, s.method, cardinality(s.skill_numbers) as skills,
      s.created_at, s.updated_at, s.completed_at, s.expires_at
    from ${sessionTables} join people o on o.person_id = s.person_id
    where ${sql.join(conditions, sql` and `)}
    order by s.created_at desc, s.verification_id limit ${limit}`.execute(queries)
  const vault = vaultOf(queries)
  return rows.map(({ person_id, personal, sealed_key, ...row }) => {
    const values = openSessionValues(openPersonKey(vault, person_id, sealed_key), row.verification_id, personal)
    return { ...row, student_name: values?.student.name ?? ERASED }
  })
}

const sessionTables = sql`verification_sessions s left join verification_reviews r using (verification_id)`

/** Returns the tables and the condition of a filter, to count its sessions. */
export function sessionSelection(scope: OrgScope, at: number, filter: Pick<SessionFilter, 'status' | 'search'>) {
  return { from: sessionTables, where: sql.join(sessionConditions(scope, at, filter).conditions, sql` and `) }
}

function sessionConditions(
  { orgId, mode }: OrgScope,
  at: number,
  { status, id, search }: Pick<SessionFilter, 'status' | 'id' | 'search'>,
) {
  const now = sql`coalesce((select now_at from test_clocks k where k.test_clock_id = s.test_clock_id), ${new Date(at)})`
  const isExpired = sql`(s.status = 'open' and s.expires_at <= ${now}
    or s.status = 'pending_review' and r.submitted_at is null and r.expires_at <= ${now})`
  const conditions = [sql`s.org_id = ${orgId} and s.mode = ${mode}`]
  if (id !== undefined) conditions.push(sql`s.verification_id = ${id}`)
  if (status === 'expired') conditions.push(sql`(s.status = 'expired' or ${isExpired})`)
  else if (status !== undefined) conditions.push(sql`s.status = ${status} and ${isExpired} is not true`)
  if (search !== undefined) {
    const text = search.trim()
    conditions.push(
      sql`(s.verification_id = ${text.toUpperCase()} or s.user_id in (
        select user_id from verification_students where org_id = ${orgId} and mode = ${mode} and external_student_id = ${text}))`,
    )
  }
  return { isExpired, conditions }
}
