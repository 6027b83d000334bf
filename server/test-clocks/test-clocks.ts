import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import { type Clock, DAY, parseTimestamp, realClock, SECOND } from '../platform/clock.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'

/** Notification that a test clock advances, or that one of its objects is due. */
export const TEST_CLOCK_DUE = 'test clock due'

export const testClockStatuses = ['ready', 'advancing', 'archived'] as const
type TestClockStatus = (typeof testClockStatuses)[number]

export interface TestClock {
  test_clock_id: string
  org_id: string
  mode: 'test'
  name: string | null
  starts_at: Date
  now_at: Date
  /** The end of the advance that is in progress. */
  advancing_to: Date | null
  archived_at: Date | null
  created_at: Date
  updated_at: Date
}

function statusOf({ archived_at, advancing_to }: TestClock): TestClockStatus {
  if (archived_at !== null) return 'archived'
  return advancing_to === null ? 'ready' : 'advancing'
}

/** Returns the API representation of a test clock. */
export function testClockRecord(clock: TestClock) {
  return {
    test_clock_id: clock.test_clock_id,
    name: clock.name,
    status: statusOf(clock),
    starts_at: clock.starts_at.toISOString(),
    now: clock.now_at.toISOString(),
    advancing_to: clock.archived_at === null ? (clock.advancing_to?.toISOString() ?? null) : null,
    created_at: clock.created_at.toISOString(),
    updated_at: clock.updated_at.toISOString(),
  }
}

const MAX_ACTIVE_CLOCKS = 100
const MAX_START_DISTANCE_DAYS = 1826
export const MAX_ADVANCE_DAYS = 366
/** The end of the time of all test clocks, far below the limits of IDs and dates. */
const LAST_TIME = Date.parse('2100-01-01T00:00:00Z')
const TIME_FORMAT = 'must be ISO 8601 with a time zone, such as 2030-01-31T09:00:00Z'

export interface NewTestClock {
  name?: string
  starts_at?: string
}

/** Rejects LIVE mode, in which time cannot be changed. */
function requireTestMode({ mode }: OrgScope): void {
  if (mode !== 'test')
    throw problem(
      'FORBIDDEN',
      'Test clocks exist in TEST mode only. Send a TEST key (VFN_TEST_…) instead of a LIVE key.',
    )
}

export async function createTestClock(
  tx: Tx,
  scope: OrgScope,
  clock: Clock,
  { name, starts_at }: NewTestClock,
): Promise<TestClock> {
  requireTestMode(scope)
  const now = clock.now()
  const startTime = starts_at === undefined ? now : parseStartTime(starts_at, now)
  // Locked, so that concurrent requests cannot exceed the limit together.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`test clocks of ${scope.orgId}`}, 0))`.execute(tx)
  const { rows: counts } = await sql<{ active: number }>`
    select count(*)::int as active from test_clocks
    where org_id = ${scope.orgId} and mode = ${scope.mode} and archived_at is null`.execute(tx)
  if (counts[0]!.active >= MAX_ACTIVE_CLOCKS)
    throw problem(
      'LIMIT_EXCEEDED',
      `An organisation can have at most ${MAX_ACTIVE_CLOCKS} test clocks that are not archived. Archive one with DELETE /test-clocks/{test_clock_id}.`,
    )
  const { rows } = await sql<TestClock>`
    insert into test_clocks (test_clock_id, org_id, mode, name, starts_at, now_at, created_at, updated_at)
    values (${newId('TC_', now)}, ${scope.orgId}, 'test', ${name ?? null}, ${new Date(startTime)}, ${new Date(startTime)},
      ${new Date(now)}, ${new Date(now)})
    returning *`.execute(tx)
  return rows[0]!
}

function parseStartTime(text: string, now: number): number {
  const time = parseTimestamp(text)
  if (time === undefined) throw invalid([{ path: 'starts_at', message: TIME_FORMAT }])
  if (Math.abs(time - now) > MAX_START_DISTANCE_DAYS * DAY)
    throw invalid([{ path: 'starts_at', message: 'must be at most five years before or after the current time' }])
  return time
}

export async function getTestClock(queries: Queries, scope: OrgScope, id: string): Promise<TestClock> {
  requireTestMode(scope)
  const { rows } = await sql<TestClock>`
    select * from test_clocks where test_clock_id = ${id} and org_id = ${scope.orgId} and mode = ${scope.mode}`.execute(
    queries,
  )
  return rows[0] ?? notFound(id)
}

async function lockTestClock(tx: Tx, scope: OrgScope, id: string): Promise<TestClock> {
  requireTestMode(scope)
  const { rows } = await sql<TestClock>`
    select * from test_clocks
    where test_clock_id = ${id} and org_id = ${scope.orgId} and mode = ${scope.mode} for update`.execute(tx)
  return rows[0] ?? notFound(id)
}

/** Lists test clocks, newest first. */
export async function listTestClocks(
  queries: Queries,
  scope: OrgScope,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<TestClock[]> {
  requireTestMode(scope)
  const { rows } = await sql<TestClock>`
    select * from test_clocks where org_id = ${scope.orgId} and mode = ${scope.mode}
      and (${before ?? null}::text is null or test_clock_id < ${before ?? null})
    order by test_clock_id desc limit ${limit}`.execute(queries)
  return rows
}

/** Archives a test clock permanently: its time no longer changes, and nothing happens to its objects. Idempotent. */
export async function archiveTestClock(tx: Tx, scope: OrgScope, clock: Clock, id: string): Promise<TestClock> {
  await lockTestClock(tx, scope, id)
  const now = new Date(clock.now())
  const { rows } = await sql<TestClock>`
    update test_clocks set archived_at = coalesce(archived_at, ${now}), advancing_to = null,
      updated_at = case when archived_at is null then ${now} else updated_at end
    where test_clock_id = ${id} returning *`.execute(tx)
  return rows[0]!
}

export interface AdvanceInput {
  to?: string
  seconds?: number
}

/** Starts to advance a test clock. The runner moves it from due time to due time until it reaches the end. */
export async function advanceTestClock(
  tx: Tx,
  scope: OrgScope,
  clock: Clock,
  id: string,
  input: AdvanceInput,
): Promise<TestClock> {
  const current = await lockTestClock(tx, scope, id)
  if (current.archived_at !== null)
    throw problem('CONFLICT', 'This test clock is archived and cannot be advanced. Create another one.')
  if (current.advancing_to !== null)
    throw problem(
      'CONFLICT',
      `This test clock is advancing to ${current.advancing_to.toISOString()}. Wait until GET /test-clocks/{test_clock_id} returns the status ready.`,
      { retryAfter: 1 },
    )
  const target = targetTime(current.now_at.getTime(), input)
  const { rows } = await sql<TestClock>`
    update test_clocks set advancing_to = ${new Date(target)}, updated_at = ${new Date(clock.now())}
    where test_clock_id = ${id} returning *`.execute(tx)
  notifyAfterCommit(tx, TEST_CLOCK_DUE)
  return rows[0]!
}

function targetTime(now: number, { to, seconds }: AdvanceInput): number {
  if ((to === undefined) === (seconds === undefined))
    throw invalid([{ path: 'body', message: 'must have either `to` or `seconds`, but not both' }])
  const path = to === undefined ? 'seconds' : 'to'
  const time = to === undefined ? now + seconds! * SECOND : parseTimestamp(to)
  if (time === undefined) throw invalid([{ path, message: TIME_FORMAT }])
  if (time <= now)
    throw invalid([{ path, message: `must be after the time of the clock, ${new Date(now).toISOString()}` }])
  if (time > now + MAX_ADVANCE_DAYS * DAY)
    throw invalid([{ path, message: `must be at most ${MAX_ADVANCE_DAYS} days after the time of the clock` }])
  if (time > LAST_TIME) throw invalid([{ path, message: 'must not be after 2100-01-01T00:00:00Z' }])
  return time
}

/**
 * Returns the clock of a new object, for an ID that the caller sent, and keeps its time unchanged until the end of the transaction.
 * Without an ID, returns the clock of the server.
 */
export async function attachTestClock(
  queries: Queries,
  { orgId, mode }: OrgScope,
  clock: Clock,
  id: string | undefined,
  path: string,
): Promise<Clock> {
  if (id === undefined) return clock
  if (mode !== 'test')
    throw invalid([{ path, message: 'is for TEST mode only; omit it, or send a TEST key instead of a LIVE key' }])
  const { rows } = await sql<{ now_at: Date; archived_at: Date | null }>`
    select now_at, archived_at from test_clocks
    where test_clock_id = ${id} and org_id = ${orgId} and mode = ${mode} for share`.execute(queries)
  if (!rows[0])
    throw invalid([{ path, message: 'is not a test clock of this organisation; create one with POST /test-clocks' }])
  if (rows[0].archived_at !== null)
    throw invalid([{ path, message: 'is an archived test clock; create another one with POST /test-clocks' }])
  return fixedClock(rows[0].now_at.getTime(), clock)
}

/** Returns the clock of an object, without a test clock that of the server. */
export async function findClock(queries: Queries, clock: Clock, id: string | null): Promise<Clock> {
  return id === null ? clock : readTime(queries, clock, id, sql``)
}

/** Returns the clock of an object, as `findClock`, and keeps its time unchanged until the end of the transaction. */
export async function lockClock(tx: Tx, clock: Clock, id: string | null): Promise<Clock> {
  return id === null ? clock : readTime(tx, clock, id, sql`for share`)
}

async function readTime(queries: Queries, clock: Clock, id: string, lock: ReturnType<typeof sql>): Promise<Clock> {
  const { rows } = await sql<{ now_at: Date }>`
    select now_at from test_clocks where test_clock_id = ${id} ${lock}`.execute(queries)
  return fixedClock(rows[0]!.now_at.getTime(), clock)
}

function fixedClock(time: number, clock: Clock): Clock {
  return { now: () => time, real: realClock(clock) }
}

/** Returns the dependencies with the clock of an object in place of that of the server. */
export async function withLockedClock<Deps extends { clock: Clock }>(
  tx: Tx,
  deps: Deps,
  { test_clock_id }: { test_clock_id: string | null },
): Promise<Deps> {
  return test_clock_id === null ? deps : { ...deps, clock: await lockClock(tx, deps.clock, test_clock_id) }
}

/** Rejects changes of an object whose test clock is archived, because nothing happens to it any more. */
export async function requireActiveClock(queries: Queries, id: string | null): Promise<void> {
  if (id === null) return
  const { rows } = await sql`
    select 1 from test_clocks where test_clock_id = ${id} and archived_at is null`.execute(queries)
  if (rows.length === 0)
    throw problem('CONFLICT', `The test clock ${id} of this campaign is archived. Create a campaign with another one.`)
}

function notFound(id: string): never {
  throw problem('NOT_FOUND', `Test clock ${id} not found.`)
}
