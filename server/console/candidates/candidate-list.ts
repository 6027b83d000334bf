import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { type ResultCandidacy, type ResultStatus, selectCandidacies } from '../../campaigns/candidacy.ts'
import type { Context } from '../../context.ts'
import { openPersonKey, sealPersonal } from '../../people/identity/person-key.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { assignListPositions, listResults } from '../../results/results.ts'
import { countUpToLimit } from '../paginate.ts'
import { MAX_SORTED_MATCHES, matchesOfIndex, parseSearch, type SearchConditions } from './candidate-search.ts'
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
  /** Whether the page was read in the order of the list; undefined if an earlier version wrote the position. */
  isReadInOrder?: boolean
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

/** If more candidates meet a single condition, a page is found sooner by reading the list in its order than by reading all of them. */
const MAX_READ_MATCHES = 5000

interface PageOptions {
  sort: CandidateSort
  after: CandidatePosition | undefined
  limit: number
}

interface CandidatePage {
  rows: ListedRow[]
  /** The number of candidates that match the filter, up to a limit; undefined if they were not counted. */
  total?: number
  /** Whether more candidates match than `total`. */
  is_more?: boolean
}

type StoredRow = Omit<ListedRow, 'candidacy' | 'position'> & { candidate_id: string; sorted_at: Date }

/**
 * Returns one page of candidates, and counts those that match the filter for the first page. Call `refreshCandidateList` first. Few matches
 * are found first and then sorted: PostgreSQL does not know how often several conditions occur together, and would read the whole list in
 * its order to find them. If there are many, the list is read in its order until the page is complete.
 */
export async function listCandidatePage(
  queries: Queries,
  deps: Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  filter: CandidateFilter,
  options: PageOptions,
): Promise<CandidatePage> {
  const { after } = options
  const conditions = filterConditions(scope, filter)
  const indexed = searchConditions(scope, filter)
  const search = parseSearch(deps, scope, filter.q, indexed)
  if (search) conditions.push(search.hasTokens)
  if (after?.isReadInOrder) return readInOrder(queries, conditions, options)
  if (!after && !search && conditions.length <= 2 && filter.candidate_ids === undefined) {
    // Candidates with a single condition are counted in its index. The order of a list without a condition has an index, too.
    const counted = await countUpToLimit(queries, sql`candidate_list l`, sql.join(conditions, sql` and `))
    if (counted.total > MAX_READ_MATCHES || conditions.length === 1)
      return { ...(await readInOrder(queries, conditions, options)), ...counted }
  }
  const page = await sortMatches(queries, scope, selectMatches(), options)
  return page.is_more ? { ...page, ...(await readInOrder(queries, conditions, options)) } : page

  function selectMatches() {
    const maxMatches = MAX_SORTED_MATCHES + 1
    // Selected candidates are found by their IDs.
    if (search && filter.candidate_ids === undefined) return search.matches(maxMatches)
    // A campaign is so small that its candidates are found sooner in the index of the search than by reading all of them.
    if (!search && filter.campaign_id !== undefined && indexed.values.length > 1)
      return matchesOfIndex(scope, [], indexed, maxMatches)
    return sql`select candidate_id, listed_at, enrolled_at, completed_at from candidate_list l
      where ${sql.join(conditions, sql` and `)} limit ${maxMatches}`
  }
}

/** Counts matches up to a limit and, unless there are more, returns a page of them. */
async function sortMatches(
  queries: Queries,
  { orgId, mode }: OrgScope,
  matches: RawBuilder<unknown>,
  { sort, after, limit }: PageOptions,
): Promise<CandidatePage> {
  const { column, descending } = SORT_COLUMNS[sort]
  const key = sql.ref(column)
  const direction = descending ? sql`desc` : sql`asc`
  const { rows } = await sql<Omit<StoredRow, 'candidate_id'> & { count: number; candidate_id: string | null }>`
    with matches as materialized (${matches}),
      counted as (select count(*)::int as count from matches),
      page as (
        select candidate_id, ${key} as sorted_at from matches
        where (select count from counted) <= ${MAX_SORTED_MATCHES} ${positionCondition(sort, sql``, after)}
        order by ${key} ${direction}, candidate_id ${direction} limit ${limit}
      )
    select count, p.candidate_id, p.sorted_at, l.listed_at, l.decision, l.note, l.decided_by, l.decided_at, l.assigned_to
    from counted left join (page p join candidate_list l on l.candidate_id = p.candidate_id and l.org_id = ${orgId} and l.mode = ${mode}) on true
    order by p.sorted_at ${direction}, p.candidate_id ${direction}`.execute(queries)
  const { count } = rows[0]!
  const listed = rows.filter((row): row is typeof row & StoredRow => row.candidate_id !== null)
  const is_more = count > MAX_SORTED_MATCHES
  return { rows: await toListedRows(queries, listed, false), total: Math.min(count, MAX_SORTED_MATCHES), is_more }
}

async function readInOrder(
  queries: Queries,
  conditions: RawBuilder<unknown>[],
  { sort, after, limit }: PageOptions,
): Promise<Pick<CandidatePage, 'rows'>> {
  const { column, descending } = SORT_COLUMNS[sort]
  const key = sql.ref(`l.${column}`)
  const direction = descending ? sql`desc` : sql`asc`
  const { rows } = await sql<StoredRow>`
    select l.candidate_id, l.listed_at, l.decision, l.note, l.decided_by, l.decided_at, l.assigned_to, ${key} as sorted_at
    from candidate_list l where ${sql.join(conditions, sql` and `)} ${positionCondition(sort, sql`l.`, after)}
    order by ${key} ${direction}, l.candidate_id ${direction} limit ${limit}`.execute(queries)
  return { rows: await toListedRows(queries, rows, true) }
}

/** Returns the condition that a row has a place in the order, after a position. */
function positionCondition(
  sort: CandidateSort,
  prefix: RawBuilder<unknown>,
  after: CandidatePosition | undefined,
): RawBuilder<unknown> {
  const { column, descending } = SORT_COLUMNS[sort]
  const key = sql`${prefix}${sql.ref(column)}`
  const isSorted = column === 'completed_at' ? sql`and ${key} is not null` : sql``
  if (!after) return isSorted
  return sql`${isSorted} and (${key}, ${prefix}candidate_id) ${descending ? sql`<` : sql`>`} (${new Date(after.at)}::timestamptz, ${after.id})`
}

async function toListedRows(queries: Queries, rows: StoredRow[], isReadInOrder: boolean): Promise<ListedRow[]> {
  const found = await findCandidacies(
    queries,
    rows.map(({ candidate_id }) => candidate_id),
  )
  const candidacies = new Map(found.map((each) => [each.candidate_id, each]))
  return rows.flatMap(({ candidate_id, sorted_at, ...row }) => {
    const candidacy = candidacies.get(candidate_id)
    const position = { at: sorted_at.toISOString(), id: candidate_id, isReadInOrder }
    return candidacy ? [{ ...row, candidacy: { ...candidacy, updated_at: row.listed_at }, position }] : []
  })
}

async function findCandidacies(queries: Queries, ids: string[]): Promise<ResultCandidacy[]> {
  return ids.length === 0 ? [] : selectCandidacies(queries, sql`p.candidate_id = any (${ids}::text[])`, sql``)
}

/** Returns the conditions of a filter that the function of the search compares. */
function searchConditions(scope: OrgScope, filter: CandidateFilter): SearchConditions & { values: string[] } {
  const { campaign_id, mandate_id, job_id, status, verdict, decision, assigned_to, updated_after } = filter
  const values = [campaign_id, mandate_id, status, verdict, decision === 'none' ? undefined : decision]
  return {
    values: values.filter((value) => value !== undefined),
    withoutDecision: decision === 'none',
    assignedTo: assigned_to,
    campaignIds: job_id === undefined ? undefined : sql`array(${campaignsOfJob(scope, job_id)})`,
    updatedAfter: updated_after,
  }
}

function campaignsOfJob({ orgId, mode }: OrgScope, jobId: string): RawBuilder<unknown> {
  return sql`select campaign_id from campaigns where org_id = ${orgId} and mode = ${mode} and job_id = ${jobId}`
}

/** Returns the conditions of a filter other than its search. */
function filterConditions({ orgId, mode }: OrgScope, filter: CandidateFilter): RawBuilder<unknown>[] {
  const { campaign_id, mandate_id, job_id, status, verdict, decision, assigned_to, updated_after, candidate_ids } =
    filter
  const conditions = [sql`l.org_id = ${orgId} and l.mode = ${mode}`]
  if (campaign_id !== undefined) conditions.push(sql`l.campaign_id = ${campaign_id}`)
  if (mandate_id !== undefined) conditions.push(sql`l.mandate_id = ${mandate_id}`)
  if (job_id !== undefined) conditions.push(sql`l.campaign_id in (${campaignsOfJob({ orgId, mode }, job_id)})`)
  // Only completed results have a verdict. Two conditions of which one implies the other would be taken for a rare combination.
  if (verdict !== undefined && status !== undefined && status !== 'completed') conditions.push(sql`false`)
  else if (status !== undefined && verdict === undefined) conditions.push(sql`l.status = ${status}`)
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
