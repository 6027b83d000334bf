import { sql } from 'kysely'
import type { OwnerScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { type Candidacy, type ResultStatus, selectCandidacies } from '../campaigns/candidacy.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'

export async function getResult(tx: Queries, { orgId, mode }: OwnerScope, id: string): Promise<Candidacy> {
  const where = sql`p.result_id = ${id} and p.org_id = ${orgId} and p.mode = ${mode}`
  const [found] = await selectCandidacies(tx, where, sql``)
  if (!found) throw problem('NOT_FOUND', `There is no result ${id}.`)
  return found
}

export interface ResultFilter {
  campaign_id?: string | undefined
  mandate_id?: string | undefined
  job_id?: string | undefined
  status?: ResultStatus | undefined
  updated_after?: Date | undefined
  /** The last result of the page before. */
  after?: Position | undefined
  /** For people to read: the newest update first. */
  newest?: boolean | undefined
  limit: number
}

export interface Position {
  listedAt: string
  resultId: string
}

/** The oldest update first, where not told otherwise. Ask `listChanges` to put everything that has committed into the list before. */
export async function listResults(
  tx: Queries,
  { orgId, mode }: OwnerScope,
  { campaign_id, mandate_id, job_id, status, updated_after, after, newest = false, limit }: ResultFilter,
) {
  const conditions = [sql`p.org_id = ${orgId} and p.mode = ${mode} and p.listed_at is not null`]
  if (campaign_id !== undefined) conditions.push(sql`p.campaign_id = ${campaign_id}`)
  if (mandate_id !== undefined) conditions.push(sql`p.mandate_id = ${mandate_id}`)
  if (job_id !== undefined) conditions.push(sql`g.job_id = ${job_id}`)
  if (status !== undefined) conditions.push(sql`p.status = ${status}`)
  if (updated_after !== undefined) conditions.push(sql`p.listed_at > ${updated_after}`)
  if (after !== undefined)
    conditions.push(
      sql`(p.listed_at, p.result_id) ${newest ? sql`<` : sql`>`} (${new Date(after.listedAt)}, ${after.resultId})`,
    )
  return selectCandidacies(
    tx,
    sql`${sql.join(conditions, sql` and `)}`,
    newest
      ? sql`order by p.listed_at desc, p.result_id desc limit ${limit}`
      : sql`order by p.listed_at, p.result_id limit ${limit}`,
  )
}

/** Results listed in one transaction; more wait for the next. */
const BATCH = 2000

/**
 * Gives every change that has committed its place in the list: the time of the update, or, where something at least as late
 * is listed already, a moment after all that is. So a change that commits late never comes to stand before what a poller has
 * read, whether he goes on from a cursor or from the last `updated_at` that he saw; and no writer waits for another.
 */
export async function listChanges(db: Database, { orgId, mode }: OwnerScope): Promise<void> {
  while (await isChanged()) {
    if ((await db.transaction(listBatch)) < BATCH) return
  }

  async function isChanged() {
    const { rows } = await sql`
      select 1 from candidate_progress where org_id = ${orgId} and mode = ${mode} and moved limit 1`.execute(db.queries)
    return rows.length > 0
  }

  async function listBatch(tx: Tx): Promise<number> {
    await sql`insert into result_listings (org_id, mode, listed_until) values (${orgId}, ${mode}, 'epoch') on conflict do nothing`.execute(
      tx,
    )
    // One at a time, until the commit: whoever reads n has been able to read everything before n.
    await sql`select 1 from result_listings where org_id = ${orgId} and mode = ${mode} for update`.execute(tx)
    const { rows } = await sql<{ count: number }>`
      with until as (select listed_until from result_listings where org_id = ${orgId} and mode = ${mode}),
      oldest as materialized (
        select candidate_id from candidate_progress where org_id = ${orgId} and mode = ${mode} and moved
        order by updated_at limit ${BATCH}
      ), changed as materialized (
        select candidate_id, greatest(updated_at, listed_until + interval '1 millisecond') as listed_at
        from candidate_progress p, until where candidate_id in (select candidate_id from oldest)
        order by candidate_id for update of p
      ), placed as (
        update candidate_progress p set listed_at = changed.listed_at, moved = false from changed
        where p.candidate_id = changed.candidate_id returning p.listed_at
      ), latest as (
        update result_listings set listed_until = greatest(listed_until, (select max(listed_at) from placed))
        where org_id = ${orgId} and mode = ${mode}
      )
      select count(*)::int as count from placed`.execute(tx)
    return rows[0]!.count
  }
}
