import { sql } from 'kysely'
import type { OwnerScope } from '../access/caller.ts'
import type { Queries } from '../platform/database.ts'
import type { Status } from './schema.ts'

/** A session in the console's list. */
export interface ListedSession {
  verification_id: string
  external_student_id: string
  student_name: string
  status: Status
  method: string | null
  skills: number
  created_at: Date
  updated_at: Date
  completed_at: Date | null
  expires_at: Date
}

export interface SessionPosition {
  at: string
  id: string
}

export interface SessionFilter {
  status?: Status | undefined
  /** One session alone. */
  id?: string | undefined
  /** The last one of the page before. */
  after?: SessionPosition | undefined
  limit: number
}

/** Newest first. One that has ended counts as expired at once, though a job writes it down later. */
export async function listSessions(
  queries: Queries,
  { orgId, mode }: OwnerScope,
  at: number,
  { status, id, after, limit }: SessionFilter,
): Promise<ListedSession[]> {
  const now = new Date(at)
  const conditions = [sql`org_id = ${orgId} and mode = ${mode}`]
  if (id !== undefined) conditions.push(sql`verification_id = ${id}`)
  if (status === 'open') conditions.push(sql`status = 'open' and expires_at > ${now}`)
  else if (status === 'expired')
    conditions.push(sql`(status = 'expired' or (status = 'open' and expires_at <= ${now}))`)
  else if (status !== undefined) conditions.push(sql`status = ${status}`)
  if (after !== undefined) {
    const last = new Date(after.at)
    conditions.push(sql`created_at <= ${last} and (created_at < ${last} or verification_id > ${after.id})`)
  }
  const { rows } = await sql<ListedSession>`
    select verification_id, student ->> 'externalStudentId' as external_student_id, student ->> 'name' as student_name,
      case when status = 'open' and expires_at <= ${now} then 'expired' else status end as status, method,
      cardinality(skill_numbers) as skills, created_at, updated_at, completed_at, expires_at
    from verification_sessions where ${sql.join(conditions, sql` and `)}
    order by created_at desc, verification_id limit ${limit}`.execute(queries)
  return rows
}
