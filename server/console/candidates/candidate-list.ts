import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { type ResultCandidacy, type ResultStatus, selectCandidacies } from '../../campaigns/candidacy.ts'
import type { Context } from '../../context.ts'
import { openPersonKey, sealPersonal } from '../../people/identity/person-key.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { assignListPositions, listResults } from '../../results/results.ts'
import { countUpToLimit, MAX_COUNTED_ROWS } from '../paginate.ts'
import { isFrequent, MAX_SORTED_MATCHES, parseSearch } from './candidate-search.ts'
import { isToCall, recruiterResult, type VerdictFilter, verdictOf } from './recruiter-result.ts'
import { tokensOf } from './search-tokens.ts'

/** The decision of a recruiter about a candidate. */
export const decisions = ['called', 'shortlisted', 'rejected'] as const
type Decision = (typeof decisions)[number]

export const candidateSorts = [
  'updated',
  'updated_first',
  'enrolled',
  'enrolled_first',
  'completed',
  'completed_first',
] as const
type CandidateSort = (typeof candidateSorts)[number]

export interface CandidateFilter {
  /** The beginning of names, the end of a phone number, or a whole ID or email address. */
  q?: string | undefined
  campaign_id?: string | undefined
  mandate_id?: string | undefined
  job_id?: string | undefined
  status?: ResultStatus | undefined
  verdict?: VerdictFilter | undefined
  decision?: Decision | 'none' | undefined
  /** The ID of a member, or `none` for candidates who are not assigned. */
  assigned_to?: string | undefined
  updated_after?: Date | undefined
  candidate_ids?: string[] | undefined
}

type ListDeps = Pick<Context, 'db' | 'clock' | 'mailboxes'>

const BATCH_SIZE = 500
/** Maximum number of batches to copy during a request. A background job copies the others. */
const MAX_BATCHES_PER_REQUEST = 6

/**
 * Copies results that changed since the last copy to `candidate_list`, in the order of their list positions. Returns whether the list is
 * up to date. Requests that read the list and a job call this, so that enrolments and conversations do not have to update the list.
 */
export async function refreshCandidateList(
  deps: ListDeps,
  scope: OrgScope,
  maxBatches = MAX_BATCHES_PER_REQUEST,
): Promise<boolean> {
  const { db, clock } = deps
  await assignListPositions(db, clock, scope)
  for (let batch = 0; batch < maxBatches; batch++) {
    if (!(await hasChanges(db.queries, scope))) return true
    await db.transaction((tx) => copyBatch(tx, deps, scope))
  }
  return !(await hasChanges(db.queries, scope))
}

/** Reads the position first: with subqueries instead of values, PostgreSQL would not use the index. */
async function hasChanges(queries: Queries, { orgId, mode }: OrgScope): Promise<boolean> {
  const { rows: positions } = await sql<{ listed_at: Date; result_id: string }>`
    select listed_at, result_id from candidate_list_positions where org_id = ${orgId} and mode = ${mode}`.execute(
    queries,
  )
  const { listed_at, result_id } = positions[0] ?? { listed_at: new Date(0), result_id: '' }
  const { rows } = await sql`
    select 1 from candidate_progress where org_id = ${orgId} and mode = ${mode} and listed_at is not null
      and (listed_at, result_id) > (${listed_at}::timestamptz, ${result_id})
    order by listed_at, result_id limit 1`.execute(queries)
  return rows.length > 0
}

async function copyBatch(tx: Tx, { mailboxes }: ListDeps, scope: OrgScope): Promise<void> {
  const { orgId, mode } = scope
  await sql`insert into candidate_list_positions (org_id, mode, listed_at, result_id) values (${orgId}, ${mode}, 'epoch', '')
    on conflict do nothing`.execute(tx)
  // Serialises concurrent copies.
  const { rows: positions } = await sql<{ listed_at: Date; result_id: string }>`
    select listed_at, result_id from candidate_list_positions where org_id = ${orgId} and mode = ${mode} for update`.execute(
    tx,
  )
  const { listed_at, result_id } = positions[0]!
  const changed = await listResults(tx, scope, {
    after: { listedAt: listed_at.toISOString(), resultId: result_id },
    limit: BATCH_SIZE,
  })
  const last = changed.at(-1)
  if (!last) return
  const rows = changed.map((candidacy) => ({ candidacy, result: recruiterResult(candidacy) }))
  await sql`
    insert into candidate_list (candidate_id, org_id, mode, campaign_id, mandate_id, result_id, status, verdict, to_call, enrolled_at,
      completed_at, listed_at, tokens)
    select n.candidate_id, ${orgId}, ${mode}, n.campaign_id, n.mandate_id, n.result_id, n.status, n.verdict, n.to_call, n.enrolled_at,
      n.completed_at, n.listed_at, n.tokens::bigint[]
    from unnest(${changed.map((row) => row.candidate_id)}::text[], ${changed.map((row) => row.campaign_id)}::text[],
      ${changed.map((row) => row.mandate_id)}::text[], ${changed.map((row) => row.result_id)}::text[],
      ${changed.map((row) => row.status)}::text[], ${rows.map(({ result }) => verdictOf(result))}::text[],
      ${rows.map(({ result }) => isToCall(result))}::boolean[], ${changed.map((row) => row.created_at)}::timestamptz[],
      ${changed.map((row) => row.completed_at)}::timestamptz[], ${changed.map((row) => row.listed_at)}::timestamptz[],
      ${changed.map((row) => `{${tokensOf(mailboxes, scope, row).join(',')}}`)}::text[])
      as n (candidate_id, campaign_id, mandate_id, result_id, status, verdict, to_call, enrolled_at, completed_at, listed_at, tokens)
    on conflict (candidate_id) do update set status = excluded.status, verdict = excluded.verdict, to_call = excluded.to_call,
      completed_at = excluded.completed_at, listed_at = excluded.listed_at, tokens = excluded.tokens`.execute(tx)
  await sql`update candidate_list_positions set listed_at = ${last.listed_at}, result_id = ${last.result_id}
    where org_id = ${orgId} and mode = ${mode}`.execute(tx)
}

/** Number of batches that are copied for one organisation before the next one's turn. */
const BATCHES_PER_TURN = 10
/** Limits the time of a run; the next one continues. */
const MAX_TURNS = 20

/**
 * Copies the changed results of all organisations to their lists. They take turns, so that a large enrolment does not delay the lists of
 * others, and an error in one organisation does not stop the copies of the others. Throws at the end if any copy failed.
 */
export async function refreshOutdatedLists(deps: ListDeps, signal: AbortSignal): Promise<void> {
  const errors: unknown[] = []
  let outdated = await listOutdatedScopes(deps.db.queries)
  const listCount = outdated.length
  for (let turn = 0; turn < MAX_TURNS && outdated.length > 0; turn++) {
    const unfinished: OrgScope[] = []
    for (const scope of outdated) {
      if (signal.aborted) return
      try {
        if (!(await refreshCandidateList(deps, scope, BATCHES_PER_TURN))) unfinished.push(scope)
      } catch (error) {
        errors.push(error)
      }
    }
    outdated = unfinished
  }
  if (errors.length > 0)
    throw new AggregateError(
      errors,
      `copying changed results failed for ${errors.length} of ${listCount} candidate lists, retrying in the next run`,
    )
}

/** Lists the organisations and modes whose results changed since they were copied to the list. */
export async function listOutdatedScopes(queries: Queries): Promise<OrgScope[]> {
  const { rows } = await sql<{ org_id: string; mode: 'test' | 'live' }>`
    select org_id, mode from candidate_progress where moved group by org_id, mode
    union
    select l.org_id, l.mode from result_listings l left join candidate_list_positions p using (org_id, mode)
    where p.listed_at is null or p.listed_at < l.listed_until
    order by org_id, mode`.execute(queries)
  return rows.map(({ org_id, mode }) => ({ orgId: org_id, mode }))
}

/** The position of a row in the list: the value of the sorted column and the ID. */
export interface CandidatePosition {
  at: string
  id: string
}

export interface ListedRow {
  candidacy: ResultCandidacy
  listed_at: Date
  decision: Decision | null
  note: Buffer | null
  decided_by: string | null
  decided_at: Date | null
  assigned_to: string | null
  position: CandidatePosition
}

const SORT_COLUMNS: Record<CandidateSort, { column: string; descending: boolean }> = {
  updated: { column: 'listed_at', descending: true },
  updated_first: { column: 'listed_at', descending: false },
  enrolled: { column: 'enrolled_at', descending: true },
  enrolled_first: { column: 'enrolled_at', descending: false },
  completed: { column: 'completed_at', descending: true },
  completed_first: { column: 'completed_at', descending: false },
}

interface CandidatePage {
  sort: CandidateSort
  after: CandidatePosition | undefined
  limit: number
  /** The number of candidates that match the filter, as `countCandidates` returns it, if it is known. */
  total?: number | undefined
}

/** Returns one page of candidates. Call `refreshCandidateList` first. */
export async function listCandidateRows(
  queries: Queries,
  deps: Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  filter: CandidateFilter,
  { sort, after, limit, total }: CandidatePage,
): Promise<ListedRow[]> {
  const { column, descending } = SORT_COLUMNS[sort]
  const key = sql.ref(`l.${column}`)
  const conditions = filterConditions(scope, filter)
  const search = parseSearch(deps, scope, filter.q, indexedValues(filter))
  const isKnownRare = total === undefined ? undefined : total <= MAX_SORTED_MATCHES
  if (search) {
    const isRareSearch = hasOtherConditions(filter) ? undefined : isKnownRare
    conditions.push((isRareSearch ?? !(await isFrequent(queries, search))) ? search.isMatch : search.hasTokens)
  }
  // Without a filter, the only condition is the organisation and the mode, whose candidates have an index in each order.
  const isSortedAfterwards = !search && conditions.length > 1 && (isKnownRare ?? (await isRare(queries, conditions)))
  if (column === 'completed_at') conditions.push(sql`l.completed_at is not null`)
  if (after)
    conditions.push(
      sql`(${key}, l.candidate_id) ${descending ? sql`<` : sql`>`} (${new Date(after.at)}::timestamptz, ${after.id})`,
    )
  const direction = descending ? sql`desc` : sql`asc`
  const matches = sql`select * from candidate_list l where ${sql.join(conditions, sql` and `)}`
  const { rows } = await sql<Omit<ListedRow, 'candidacy' | 'position'> & { candidate_id: string; sorted_at: Date }>`
    with l as ${isSortedAfterwards ? sql`materialized` : sql`not materialized`} (${matches})
    select l.candidate_id, l.listed_at, l.decision, l.note, l.decided_by, l.decided_at, l.assigned_to, ${key} as sorted_at from l
    order by ${key} ${direction}, l.candidate_id ${direction} limit ${limit}`.execute(queries)
  const candidacies = new Map(
    (
      await findCandidacies(
        queries,
        rows.map(({ candidate_id }) => candidate_id),
      )
    ).map((each) => [each.candidate_id, each]),
  )
  return rows.flatMap(({ candidate_id, sorted_at, ...row }) => {
    const candidacy = candidacies.get(candidate_id)
    const position = { at: sorted_at.toISOString(), id: candidate_id }
    return candidacy ? [{ ...row, candidacy: { ...candidacy, updated_at: row.listed_at }, position }] : []
  })
}

/**
 * Returns whether few candidates match several conditions. PostgreSQL does not know how often they occur together, and would read the whole
 * list in its order to find the first of them.
 */
async function isRare(queries: Queries, conditions: RawBuilder<unknown>[]): Promise<boolean> {
  const { rows } = await sql`
    select 1 from candidate_list l where ${sql.join(conditions, sql` and `)} offset ${MAX_SORTED_MATCHES} limit 1`.execute(
    queries,
  )
  return rows.length === 0
}

async function findCandidacies(queries: Queries, ids: string[]): Promise<ResultCandidacy[]> {
  return ids.length === 0 ? [] : selectCandidacies(queries, sql`p.candidate_id = any (${ids}::text[])`, sql``)
}

/** Counts the candidates that match a filter, up to a limit. */
export async function countCandidates(
  queries: Queries,
  deps: Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  filter: CandidateFilter,
): Promise<{ total: number; is_more: boolean }> {
  const conditions = filterConditions(scope, filter)
  const search = parseSearch(deps, scope, filter.q, indexedValues(filter))
  if (search && !hasOtherConditions(filter))
    return countUpToLimit(queries, sql`(${search.firstMatches(MAX_COUNTED_ROWS + 1)}) as matches`, sql`true`)
  if (search) conditions.push((await isFrequent(queries, search)) ? search.hasTokens : search.isMatch)
  return countUpToLimit(queries, sql`candidate_list l`, sql.join(conditions, sql` and `))
}

/** Returns the values of a filter that the index of the search contains. */
function indexedValues({ campaign_id, mandate_id, status, verdict, decision }: CandidateFilter): string[] {
  const values = [campaign_id, mandate_id, status, verdict, decision === 'none' ? undefined : decision]
  return values.filter((value) => value !== undefined)
}

/** Returns whether a filter has conditions that the index of the search does not contain. */
function hasOtherConditions({ decision, assigned_to, job_id, updated_after, candidate_ids }: CandidateFilter): boolean {
  return decision === 'none' || [assigned_to, job_id, updated_after, candidate_ids].some((value) => value !== undefined)
}

/** Returns the conditions of a filter other than its search. */
function filterConditions({ orgId, mode }: OrgScope, filter: CandidateFilter): RawBuilder<unknown>[] {
  const { campaign_id, mandate_id, job_id, status, verdict, decision, assigned_to, updated_after, candidate_ids } =
    filter
  const conditions = [sql`l.org_id = ${orgId} and l.mode = ${mode}`]
  if (campaign_id !== undefined) conditions.push(sql`l.campaign_id = ${campaign_id}`)
  if (mandate_id !== undefined) conditions.push(sql`l.mandate_id = ${mandate_id}`)
  if (job_id !== undefined)
    conditions.push(
      sql`l.campaign_id in (select campaign_id from campaigns where org_id = ${orgId} and mode = ${mode} and job_id = ${job_id})`,
    )
  if (status !== undefined) conditions.push(sql`l.status = ${status}`)
  if (verdict === 'to_call') conditions.push(sql`l.to_call`)
  else if (verdict !== undefined) conditions.push(sql`l.verdict = ${verdict}`)
  if (decision === 'none') conditions.push(sql`l.decision is null`)
  else if (decision !== undefined) conditions.push(sql`l.decision = ${decision}`)
  if (assigned_to === 'none') conditions.push(sql`l.assigned_to is null`)
  else if (assigned_to !== undefined) conditions.push(sql`l.assigned_to = ${assigned_to}`)
  if (candidate_ids !== undefined) conditions.push(sql`l.candidate_id = any (${candidate_ids}::text[])`)
  if (updated_after !== undefined) conditions.push(sql`l.listed_at > ${updated_after}`)
  return conditions
}

export interface DecisionChange {
  /** Undefined leaves the decision unchanged; null removes it. The same applies to the note. */
  decision?: Decision | null | undefined
  note?: string | null | undefined
}

/** Stores the decision or the note of a recruiter for candidates, and returns the IDs of the candidates that exist. */
export async function decideOnCandidates(
  tx: Tx,
  { vault, clock }: Pick<Context, 'vault' | 'clock'>,
  { orgId, mode }: OrgScope,
  who: string,
  candidateIds: string[],
  { decision, note }: DecisionChange,
): Promise<string[]> {
  // Lock the people, so that none of them is erased before the note that is sealed with their key is stored.
  const { rows: locked } = await sql<{ candidate_id: string; person_id: string; sealed_key: Buffer | null }>`
    select l.candidate_id, o.person_id, o.sealed_key
    from candidate_list l join candidates c using (candidate_id) join people o on o.person_id = c.person_id
    where l.org_id = ${orgId} and l.mode = ${mode} and l.candidate_id = any (${candidateIds}::text[])
    order by o.person_id, l.candidate_id for key share of o`.execute(tx)
  const ids = locked.map(({ candidate_id }) => candidate_id)
  if (ids.length === 0) return []
  await sql`select 1 from candidate_list where candidate_id = any (${ids}::text[]) order by candidate_id for update`.execute(
    tx,
  )
  const notes = locked.map(({ candidate_id, person_id, sealed_key }) => {
    const key = openPersonKey(vault, person_id, sealed_key)
    return note && key ? sealPersonal(key, note, notePurpose(candidate_id)) : null
  })
  await sql`
    update candidate_list l set decision = ${decision === undefined ? sql`l.decision` : decision},
      note = ${note === undefined ? sql`l.note` : sql`n.note`}, decided_by = ${who}, decided_at = ${new Date(clock.now())}
    from unnest(${ids}::text[], ${notes}::bytea[]) as n (candidate_id, note) where l.candidate_id = n.candidate_id`.execute(
    tx,
  )
  return ids
}

export function notePurpose(candidateId: string): string {
  return `note on ${candidateId}`
}

/**
 * Removes the search tokens and notes of candidates whose personal data the same transaction erases. Waits for a running copy, and
 * blocks the next one until the commit, so that no copy stores tokens of erased names.
 */
export async function eraseCandidateEntries(tx: Tx, candidateIds: string[]): Promise<void> {
  const scopes = sql`select distinct org_id, mode from candidates where candidate_id = any (${candidateIds}::text[])`
  await sql`insert into candidate_list_positions (org_id, mode, listed_at, result_id)
    select org_id, mode, 'epoch', '' from (${scopes}) as scopes order by org_id, mode on conflict do nothing`.execute(
    tx,
  )
  await sql`select 1 from candidate_list_positions where (org_id, mode) in (${scopes}) order by org_id, mode for update`.execute(
    tx,
  )
  await sql`update candidate_list set tokens = '{}', note = null where candidate_id = any (${candidateIds}::text[])`.execute(
    tx,
  )
}

/** Replaces the search tokens of candidates whose name or address changed. */
export async function replaceTokens(
  tx: Tx,
  mailboxes: Context['mailboxes'],
  scope: OrgScope,
  candidacies: ResultCandidacy[],
): Promise<void> {
  for (const candidacy of candidacies)
    await sql`update candidate_list set tokens = ${`{${tokensOf(mailboxes, scope, candidacy).join(',')}}`}::bigint[]
      where candidate_id = ${candidacy.candidate_id}`.execute(tx)
}
