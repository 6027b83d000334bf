import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { type ListedCandidacy, type ResultStatus, selectCandidacies } from '../campaigns/candidacy.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'

/** Returns a result. Call `assignListPositions` first, so that `updated_at` is the same as in the list. */
export async function getResult(tx: Queries, { orgId, mode }: OrgScope, id: string): Promise<ListedCandidacy> {
  const condition = sql`p.result_id = ${id} and p.org_id = ${orgId} and p.mode = ${mode}`
  const [candidacy] = await selectCandidacies(tx, condition, sql``)
  if (!candidacy) throw problem('NOT_FOUND', `Result ${id} not found.`)
  if (!candidacy.moved) setListedTime(candidacy)
  return candidacy
}

/** Replaces the time of the update with the list position, which is what pollers compare. */
function setListedTime(candidacy: ListedCandidacy): void {
  candidacy.updated_at = candidacy.listed_at
}

export interface ResultFilter {
  campaign_id?: string | undefined
  mandate_id?: string | undefined
  job_id?: string | undefined
  status?: ResultStatus | undefined
  updated_after?: Date | undefined
  /** Last result of the previous page. */
  after?: ResultPosition | undefined
  /** Whether the newest update is listed first, for display. */
  newestFirst?: boolean | undefined
  limit: number
}

export interface ResultPosition {
  listedAt: string
  resultId: string
}

/**
 * Lists results, by default the oldest update first, with their list position as `updated_at`. Call `assignListPositions` first, so
 * that all committed changes are included. A result that has changed since then is listed at its earlier position, with the time of
 * that position, and later once more at its new one. Its new time is not shown before, because changes with earlier positions can still
 * appear after it.
 */
export async function listResults(
  tx: Queries,
  { orgId, mode }: OrgScope,
  { campaign_id, mandate_id, job_id, status, updated_after, after, newestFirst = false, limit }: ResultFilter,
) {
  const conditions = [sql`p.org_id = ${orgId} and p.mode = ${mode} and p.listed_at is not null`]
  if (campaign_id !== undefined) conditions.push(sql`p.campaign_id = ${campaign_id}`)
  if (mandate_id !== undefined) conditions.push(sql`p.mandate_id = ${mandate_id}`)
  if (job_id !== undefined)
    conditions.push(
      sql`p.campaign_id in (select campaign_id from campaigns where org_id = ${orgId} and mode = ${mode} and job_id = ${job_id})`,
    )
  if (status !== undefined) conditions.push(sql`p.status = ${status}`)
  if (updated_after !== undefined) conditions.push(sql`p.listed_at > ${updated_after}`)
  if (after !== undefined)
    conditions.push(
      sql`(p.listed_at, p.result_id) ${newestFirst ? sql`<` : sql`>`} (${new Date(after.listedAt)}, ${after.resultId})`,
    )
  const candidacies = await selectCandidacies(
    tx,
    sql`${sql.join(conditions, sql` and `)}`,
    newestFirst
      ? sql`order by p.listed_at desc, p.result_id desc limit ${limit}`
      : sql`order by p.listed_at, p.result_id limit ${limit}`,
  )
  candidacies.forEach(setListedTime)
  return candidacies
}

/** Maximum number of results that get a list position in one transaction. */
const MAX_BATCH_RESULTS = 2000

/** Maximum number of new results that a reader waits for, if other transactions are changing them. */
const MAX_AWAITED_RESULTS = 100
/** Delays between the attempts to list new results. */
const AWAIT_DELAYS_MS = [10, 20, 40, 80, 160, 320]

/**
 * Assigns a list position to every committed change: the time of its update, or one millisecond after the last listed result if that
 * is later. Results with a test clock get the current time instead, because the time of their update is not comparable with that of
 * other results. A change that commits late is therefore never listed before results that a poller has already read, whether the poller
 * continues from a cursor or from the last `updated_at`; and writers do not wait for each other. A result that another transaction is
 * changing gets its position after that transaction, so that readers do not wait for writers either. Only a result that was never listed
 * is waited for, for about half a second: otherwise a caller who has just enrolled candidates would not find all of them, because their
 * first messages are being prepared.
 */
export async function assignListPositions(
  db: Database,
  clock: Clock,
  { orgId, mode }: OrgScope,
  awaitDelaysMs: number[] = AWAIT_DELAYS_MS,
): Promise<void> {
  const positionTime =
    mode === 'live'
      ? sql`updated_at`
      : sql`case when (select test_clock_id from campaigns g where g.campaign_id = p.campaign_id) is null then updated_at
          else ${new Date(clock.now())} end`
  if (!(await hasUnlistedChanges())) return
  await assignAll()
  let awaitedIds = await findNewResults()
  for (const delayMs of awaitDelaysMs) {
    if (awaitedIds.length === 0) return
    await sleep(delayMs)
    await assignAll()
    awaitedIds = await findNewResults(awaitedIds)
  }

  async function assignAll() {
    while ((await db.transaction(assignBatch)) === MAX_BATCH_RESULTS);
  }

  async function findNewResults(ids?: string[]) {
    const { rows } = await sql<{ id: string }>`
      select candidate_id as id from candidate_progress
      where org_id = ${orgId} and mode = ${mode} and moved and listed_at is null
        and ${ids ? sql`candidate_id = any(${ids})` : sql`true`} limit ${MAX_AWAITED_RESULTS}`.execute(db.queries)
    return rows.map(({ id }) => id)
  }

  async function hasUnlistedChanges() {
    const { rows } = await sql`
      select 1 from candidate_progress where org_id = ${orgId} and mode = ${mode} and moved limit 1`.execute(db.queries)
    return rows.length > 0
  }

  async function assignBatch(tx: Tx): Promise<number> {
    await sql`insert into result_listings (org_id, mode, listed_until) values (${orgId}, ${mode}, 'epoch') on conflict do nothing`.execute(
      tx,
    )
    // Serialised until the commit, so that a reader who sees a position has seen all earlier ones.
    await sql`select 1 from result_listings where org_id = ${orgId} and mode = ${mode} for update`.execute(tx)
    const { rows } = await sql<{ count: number }>`
      with changed as materialized (
        select candidate_id, ${positionTime} as changed_at from candidate_progress p where org_id = ${orgId} and mode = ${mode} and moved
        order by updated_at limit ${MAX_BATCH_RESULTS} for update skip locked
      ), positioned as (
        update candidate_progress p
        set listed_at = greatest(changed.changed_at, l.listed_until + interval '1 millisecond'), moved = false
        from changed, result_listings l
        where p.candidate_id = changed.candidate_id and l.org_id = ${orgId} and l.mode = ${mode}
        returning p.listed_at
      ), latest as (
        update result_listings set listed_until = greatest(listed_until, (select max(listed_at) from positioned))
        where org_id = ${orgId} and mode = ${mode} and exists (select from positioned)
      )
      select count(*)::int as count from positioned`.execute(tx)
    return rows[0]!.count
  }
}
