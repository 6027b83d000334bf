import { sql } from 'kysely'
import type { Queries, Tx } from '../database/database.ts'
import { notifyDelayedJob } from './delayed-jobs.ts'

export const jobStates = ['failed', 'waiting', 'active'] as const
type JobState = (typeof jobStates)[number]

/** A job in the operator's list. */
export interface ListedJob {
  job_id: string
  queue: string
  state: JobState
  /** The IDs in the payload of the job. The rest of the payload may be personal data, and is omitted. */
  about: string[]
  attempts: number
  retry_limit: number
  error: string | null
  created_at: Date
  start_after: Date
  completed_at: Date | null
}

export interface JobFilter {
  state: JobState
  queue?: string | undefined
  /** Position of the last job of the previous page; undefined for the first page. */
  after?: { at: string; id: string } | undefined
  limit: number
}

const jobColumns = sql`id as job_id, name as queue,
  case when state in ('created', 'retry') then 'waiting' else state::text end as state, data,
  retry_count as attempts, retry_limit, left(coalesce(output ->> 'message', output #>> '{}'), 500) as error,
  created_on as created_at, start_after, completed_on as completed_at`

type JobRow = Omit<ListedJob, 'about'> & { data: unknown }

/** Lists jobs, newest first. */
export async function listJobs(queries: Queries, { state, queue, after, limit }: JobFilter): Promise<ListedJob[]> {
  const stateCondition = state === 'waiting' ? sql`state in ('created', 'retry')` : sql`state = ${state}`
  const conditions = [stateCondition, sql`name not like '\\_\\_%'`]
  if (queue !== undefined) conditions.push(sql`name = ${queue}`)
  if (after !== undefined)
    conditions.push(sql`(date_trunc('milliseconds', created_on), id) < (${new Date(after.at)}, ${after.id}::uuid)`)
  const { rows } = await sql<JobRow>`
    select ${jobColumns} from pgboss.job where ${sql.join(conditions, sql` and `)}
    order by date_trunc('milliseconds', created_on) desc, id desc limit ${limit}`.execute(queries)
  return rows.map(toListedJob)
}

/** Runs a failed job once more; returns undefined if there is no such failed job. */
export async function retryJob(tx: Tx, queue: string, id: string): Promise<ListedJob | undefined> {
  const { rows } = await sql<JobRow>`
    update pgboss.job set state = 'retry', retry_limit = retry_limit + 1, completed_on = null
    where name = ${queue} and id = ${id}::uuid and state = 'failed' returning ${jobColumns}`.execute(tx)
  notifyDelayedJob(tx)
  return rows[0] && toListedJob(rows[0])
}

const ID_PATTERN = /^[A-Z]{2,3}_[A-Z0-9_]{10,60}$/

function toListedJob({ data, ...job }: JobRow): ListedJob {
  const values = data !== null && typeof data === 'object' ? Object.values(data) : []
  return {
    ...job,
    about: values.filter((value): value is string => typeof value === 'string' && ID_PATTERN.test(value)),
  }
}
