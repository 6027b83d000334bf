import { sql } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { type DueRow, isNoDeadLetter } from '../../platform/jobs/dead-letters.ts'
import { TEST_NUMBER_WAIT_MS } from './test-numbers.ts'

/**
 * Schedules the replies of simulated candidates to the question at `step`. A reply that is scheduled for the same question keeps its
 * time: a follow-up does not delay it.
 */
export async function scheduleReplies(
  tx: Tx,
  clock: Clock,
  questions: { candidateId: string; step: number; delayMs: number; testClockId: string | null }[],
): Promise<void> {
  if (questions.length === 0) return
  await sql`insert into simulator_turns (candidate_id, conversation_step, due_at, test_clock_id)
    select candidate_id, step, due_at, test_clock_id
    from unnest(${questions.map(({ candidateId }) => candidateId)}::text[], ${questions.map(({ step }) => step)}::int[],
      ${questions.map(({ delayMs }) => new Date(clock.now() + delayMs))}::timestamptz[],
      ${questions.map(({ testClockId }) => testClockId)}::text[]) as n (candidate_id, step, due_at, test_clock_id)
    on conflict (candidate_id) do update set conversation_step = excluded.conversation_step,
      due_at = case when simulator_turns.conversation_step = excluded.conversation_step
        then least(simulator_turns.due_at, excluded.due_at) else excluded.due_at end`.execute(tx)
}

/** Replies that an engine processes: those in real time, or those of a test clock; all, or only that of one candidate. */
export interface ReplyFilter {
  testClockId?: string | undefined
  onlyId?: string | undefined
}

/** Locks due replies, skipping those that another worker has locked. */
export async function claimDueReplies(
  tx: Tx,
  clock: Clock,
  limit: number,
  filter: ReplyFilter = {},
): Promise<{ candidate_id: string; conversation_step: number }[]> {
  const { rows } = await sql<{ candidate_id: string; conversation_step: number }>`
    select candidate_id, conversation_step from simulator_turns where ${isReplyDue(clock, filter)}
    order by due_at limit ${limit} for update skip locked`.execute(tx)
  return rows
}

function isReplyDue(clock: Clock, { testClockId, onlyId }: ReplyFilter) {
  return sql`due_at <= ${new Date(clock.now())}
    and ${testClockId === undefined ? sql`test_clock_id is null` : sql`test_clock_id = ${testClockId}`}
    and ${onlyId === undefined ? isNoDeadLetter('test-replies', sql`candidate_id`) : sql`candidate_id = ${onlyId}`}`
}

/** Lists the replies that `claimDueReplies` would lock. */
export async function listDueReplies(
  queries: Queries,
  clock: Clock,
  limit: number,
  testClockId?: string,
): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`
    select candidate_id as id, org_id as "orgId", mode from (
      select candidate_id, due_at from simulator_turns where ${isReplyDue(clock, { testClockId })} order by due_at limit ${limit}
    ) as due left join candidates using (candidate_id) order by due_at`.execute(queries)
  return rows
}

export async function delayReplies(tx: Tx, clock: Clock, candidateIds: string[]): Promise<void> {
  if (candidateIds.length > 0)
    await sql`update simulator_turns set due_at = ${new Date(clock.now() + TEST_NUMBER_WAIT_MS)}
      where candidate_id = any (${candidateIds})`.execute(tx)
}

export async function deleteReplies(tx: Tx, candidateIds: string[]): Promise<void> {
  if (candidateIds.length > 0)
    await sql`delete from simulator_turns where candidate_id = any (${candidateIds})`.execute(tx)
}

/**
 * Returns the IDs of those candidates whose scheduled reply a contact waits for, except replies that cannot be processed. With a test
 * clock, a contact does not wait for a delayed reply, as with a person.
 */
export async function findPendingReplies(tx: Tx, clock: Clock, candidateIds: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from simulator_turns where candidate_id = any (${candidateIds})
      and (test_clock_id is null or due_at <= ${new Date(clock.now() + TEST_NUMBER_WAIT_MS)})
      and ${isNoDeadLetter('test-replies', sql`candidate_id`)}`.execute(tx)
  return new Set(rows.map(({ candidate_id }) => candidate_id))
}
