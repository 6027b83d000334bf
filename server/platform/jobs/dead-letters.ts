import { type RawBuilder, sql } from 'kysely'
import { type Clock, HOUR, MINUTE } from '../clock.ts'
import type { Database, Queries, Tx } from '../database/database.ts'
import { isDatabaseUnavailable } from '../database/outage.ts'
import { errorText } from '../error-text.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { redactAddresses } from '../text/redact-addresses.ts'

/** The queues whose rows can become dead letters. */
export const deadLetterQueues = [
  'contacts',
  'test-replies',
  'lost-sends',
  'prepare-mandate',
  'test-reviews',
  'issue-credentials',
  'events',
] as const
export type DeadLetterQueue = (typeof deadLetterQueues)[number]

/** A row that could not be processed, with the last error. */
export interface DeadLetter {
  queue: DeadLetterQueue
  subject_id: string
  org_id: string | null
  mode: 'test' | 'live' | null
  attempts: number
  error: string
  first_failed_at: Date
  last_failed_at: Date
  /** Null after the last automatic retry. */
  retry_at: Date | null
}

/** The automatic retries; after the last one, an operator has to retry or discard the row. */
const RETRY_DELAYS_MS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 4 * HOUR]
const MAX_RETRIES_PER_BATCH = 20
const MAX_ERROR_LENGTH = 500

interface DeadLetterDeps {
  db: Database
  clock: Clock
  log: Log
  metrics: Pick<Metrics, 'alarms'>
}

/** A due row. */
export interface DueRow {
  id: string
  orgId: string | null
  mode: 'test' | 'live' | null
}

/** Work on the due rows of one queue. */
export interface IsolatedWork {
  queue: DeadLetterQueue
  /**
   * Processes up to `limit` due rows that are no dead letters (`isNoDeadLetter`), or only the row `onlyId`, and returns their number.
   */
  process: (tx: Tx, limit: number, onlyId?: string) => Promise<number>
  /** Lists the rows that `process` would process. */
  listDue: (queries: Queries, limit: number) => Promise<DueRow[]>
}

/**
 * Returns the condition that a row is not a dead letter, or with `now`, not one that waits for its retry. There are few dead letters,
 * so they are read once per statement.
 */
export function isNoDeadLetter(
  queue: DeadLetterQueue,
  idColumn: RawBuilder<unknown>,
  now?: number,
): RawBuilder<boolean> {
  const isWaiting = now === undefined ? sql`` : sql`and (retry_at is null or retry_at > ${new Date(now)})`
  return sql`${idColumn} <> all (array(select subject_id from dead_letters where queue = ${queue} ${isWaiting}))`
}

/** Returns the time of the next automatic retry in these queues as SQL. */
export function nextDeadLetterRetry(...queues: DeadLetterQueue[]): RawBuilder<Date | null> {
  return sql`(select min(retry_at) from dead_letters where queue = any (${queues}::text[]))`
}

/**
 * Processes a batch of due rows in one transaction. If that fails, processes them one by one, so that a row that cannot be processed
 * does not stop the others: it becomes a dead letter and is retried later. Returns the number of rows that were due.
 */
export async function processIsolated(
  deps: DeadLetterDeps,
  work: IsolatedWork,
  limit: number,
  { retriesDeadLetters = true }: { retriesDeadLetters?: boolean } = {},
): Promise<number> {
  const { db } = deps
  if (retriesDeadLetters) await retryDeadLetters(deps, work)
  try {
    return await db.transaction((tx) => work.process(tx, limit))
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    const dueRows = await work.listDue(db.queries, limit)
    if (dueRows.length === 0) throw error // the cause is not a row
    for (const row of dueRows) await processAlone(deps, work, row)
    return dueRows.length
  }
}

/** Processes one row; if that fails, records it as a dead letter. */
async function processAlone(deps: DeadLetterDeps, work: IsolatedWork, row: DueRow): Promise<void> {
  const { db } = deps
  try {
    await db.transaction(async (tx) => {
      await work.process(tx, 1, row.id)
      await deleteDeadLetter(tx, work.queue, row.id)
    })
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    await recordDeadLetter(deps, work.queue, row, error)
  }
}

/** Processes the dead letters whose retry is due. */
export async function retryDeadLetters(deps: DeadLetterDeps, work: IsolatedWork): Promise<void> {
  const { db, clock } = deps
  const { rows } = await sql<{ subject_id: string; org_id: string | null; mode: 'test' | 'live' | null }>`
    select subject_id, org_id, mode from dead_letters where queue = ${work.queue} and retry_at <= ${new Date(clock.now())}
    order by retry_at limit ${MAX_RETRIES_PER_BATCH}`.execute(db.queries)
  for (const { subject_id: id, org_id: orgId, mode } of rows) await processAlone(deps, work, { id, orgId, mode })
}

/** Records that a row could not be processed, raises the alarm, and schedules the next retry. */
export async function recordDeadLetter(
  { db, clock, log, metrics }: DeadLetterDeps,
  queue: DeadLetterQueue,
  { id, orgId, mode }: DueRow,
  error: unknown,
): Promise<void> {
  const now = new Date(clock.now())
  // The message of a syntax error quotes the text, which may be personal data.
  const reason = error instanceof SyntaxError ? new Error('the stored data is not valid JSON') : error
  const { rows } = await sql<{ attempts: number; retry_at: Date | null }>`
    insert into dead_letters (queue, subject_id, org_id, mode, attempts, error, first_failed_at, last_failed_at, retry_at)
    values (${queue}, ${id}, ${orgId}, ${mode}, 1, ${redactAddresses(errorText(reason)).slice(0, MAX_ERROR_LENGTH)}, ${now}, ${now},
      ${new Date(clock.now() + RETRY_DELAYS_MS[0]!)})
    on conflict (queue, subject_id) do update set attempts = dead_letters.attempts + 1, error = excluded.error,
      last_failed_at = excluded.last_failed_at,
      retry_at = excluded.last_failed_at + (${RETRY_DELAYS_MS}::int[])[dead_letters.attempts + 1] * interval '1 millisecond'
    returning attempts, retry_at`.execute(db.queries)
  const { attempts, retry_at } = rows[0]!
  metrics.alarms.inc({ alarm: 'dead_letter' })
  log.error(
    { err: reason, queue, subject: id, org: orgId, attempts },
    retry_at
      ? 'a row cannot be processed, processing the others and retrying it later'
      : 'a row cannot be processed after several retries; retry or discard it with `attestry dead-letters`',
  )
}

const deadLetterColumns = sql`queue, subject_id, org_id, mode, attempts, error, first_failed_at, last_failed_at, retry_at`

export interface DeadLetterPosition {
  at: string
  queue: string
  id: string
}

/** Lists dead letters, newest first. */
export async function listDeadLetters(
  queries: Queries,
  { limit, after }: { limit: number; after?: DeadLetterPosition | undefined },
): Promise<DeadLetter[]> {
  const position = after
    ? sql`where (date_trunc('milliseconds', first_failed_at), queue, subject_id) < (${new Date(after.at)}, ${after.queue}, ${after.id})`
    : sql``
  const { rows } = await sql<DeadLetter>`
    select ${deadLetterColumns} from dead_letters ${position}
    order by date_trunc('milliseconds', first_failed_at) desc, queue desc, subject_id desc limit ${limit}`.execute(
    queries,
  )
  return rows
}

/** Schedules a retry now. Returns undefined if there is no such dead letter. The caller wakes the engines. */
export async function retryDeadLetter(
  tx: Tx,
  clock: Clock,
  queue: string,
  id: string,
): Promise<DeadLetter | undefined> {
  const { rows } = await sql<DeadLetter>`
    update dead_letters set retry_at = ${new Date(clock.now())} where queue = ${queue} and subject_id = ${id}
    returning ${deadLetterColumns}`.execute(tx)
  return rows[0]
}

export async function deleteDeadLetter(tx: Tx, queue: string, id: string): Promise<DeadLetter | undefined> {
  const { rows } = await sql<DeadLetter>`
    delete from dead_letters where queue = ${queue} and subject_id = ${id} returning ${deadLetterColumns}`.execute(tx)
  return rows[0]
}
