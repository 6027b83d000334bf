import { sql } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { SHORT_WAIT, THINKING } from './test-numbers.ts'

/** Test numbers that were asked something answer it in a moment. */
export async function planTurns(tx: Tx, clock: Clock, asked: { candidateId: string; step: number }[]): Promise<void> {
  if (asked.length === 0) return
  await sql`insert into simulator_turns (candidate_id, conversation_step, due_at)
    select candidate_id, step, ${new Date(clock.now() + THINKING)}
    from unnest(${asked.map(({ candidateId }) => candidateId)}::text[], ${asked.map(({ step }) => step)}::int[]) as n (candidate_id, step)
    on conflict (candidate_id) do update set conversation_step = excluded.conversation_step, due_at = excluded.due_at`.execute(
    tx,
  )
}

/** Whose turn it is, held so that no other worker takes it. */
export async function claimTurns(
  tx: Tx,
  clock: Clock,
  limit: number,
): Promise<{ candidate_id: string; conversation_step: number }[]> {
  const { rows } = await sql<{ candidate_id: string; conversation_step: number }>`
    select candidate_id, conversation_step from simulator_turns where due_at <= ${new Date(clock.now())}
    order by due_at limit ${limit} for update skip locked`.execute(tx)
  return rows
}

export async function delayTurns(tx: Tx, clock: Clock, candidateIds: string[]): Promise<void> {
  if (candidateIds.length > 0)
    await sql`update simulator_turns set due_at = ${new Date(clock.now() + SHORT_WAIT)}
      where candidate_id = any (${candidateIds})`.execute(tx)
}

export async function endTurns(tx: Tx, candidateIds: string[]): Promise<void> {
  if (candidateIds.length > 0)
    await sql`delete from simulator_turns where candidate_id = any (${candidateIds})`.execute(tx)
}

/** Those of the candidates who are about to answer. */
export async function whoseTurn(tx: Tx, candidateIds: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from simulator_turns where candidate_id = any (${candidateIds})`.execute(tx)
  return new Set(rows.map(({ candidate_id }) => candidate_id))
}
