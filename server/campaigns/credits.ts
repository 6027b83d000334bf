import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { type Clock, realClock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { newId } from '../platform/ids.ts'

export const creditReasons = ['grant', 'enrolment', 'refund'] as const
type CreditReason = (typeof creditReasons)[number]

export interface CreditEntry {
  entry_id: string
  /** In credits; negative if they were spent. */
  amount: number
  reason: CreditReason
  campaign_id: string | null
  balance_after: number
  created_at: Date
}

/** Balances before and after credits were spent. */
export interface SpentCredits {
  scope: OrgScope
  before: number
  after: number
}

/** Runs in the transaction in which credits are spent. */
export const creditsSpent = defineHook<[tx: Tx, clock: Clock, spent: SpentCredits]>('creditsSpent').handledBy('console')

/** Far below the largest integer that a JavaScript number represents exactly. */
const MAX_BALANCE_CREDITS = 1_000_000_000_000

/** Adds credits and returns the new balance. */
export async function grantCredits(tx: Tx, scope: OrgScope, clock: Clock, amount: number): Promise<number> {
  const { orgId, mode } = scope
  const organisation = await tx
    .selectFrom('organisations')
    .select('org_id')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  if (!organisation) throw problem('NOT_FOUND', `Organisation ${orgId} not found.`)
  await sql`insert into credit_balances (org_id, mode, balance, entries) values (${orgId}, ${mode}, 0, 0)
    on conflict do nothing`.execute(tx)
  const balance = await addEntry(tx, scope, clock, { amount, reason: 'grant' })
  if (balance! > MAX_BALANCE_CREDITS)
    throw problem('LIMIT_EXCEEDED', `The balance would exceed the maximum of ${MAX_BALANCE_CREDITS} credits.`)
  return balance!
}

/** Spends one credit per candidate, all or none, and returns the new balance. */
export async function spendCredits(
  tx: Tx,
  scope: OrgScope,
  clock: Clock,
  campaignId: string,
  candidateCount: number,
): Promise<number> {
  if (candidateCount === 0) return balanceOf(tx, scope)
  const newBalance = await addEntry(tx, scope, clock, { amount: -candidateCount, reason: 'enrolment', campaignId })
  if (newBalance !== undefined) {
    await creditsSpent.run(tx, clock, { scope, before: newBalance + candidateCount, after: newBalance })
    return newBalance
  }
  const balance = await balanceOf(tx, scope)
  const message = `needs ${candidateCount} ${candidateCount === 1 ? 'credit' : 'credits'}, but the balance is ${balance}`
  throw problem('INSUFFICIENT_CREDITS', `This request ${message}.`, { details: [{ path: 'candidates', message }] })
}

/** Refunds a candidate's credit. The database rejects a second refund for the same candidate. */
export async function refundCredit(
  tx: Tx,
  scope: OrgScope,
  clock: Clock,
  campaignId: string,
  candidateId: string,
): Promise<void> {
  await addEntry(tx, scope, clock, { amount: 1, reason: 'refund', campaignId, candidateId })
}

interface NewCreditEntry {
  amount: number
  reason: CreditReason
  campaignId?: string
  candidateId?: string
}

/** Adds a credit entry and returns the new balance, or undefined if the balance would be negative. The row lock serialises entries. */
async function addEntry(
  tx: Tx,
  { orgId, mode }: OrgScope,
  clock: Clock,
  { amount, reason, campaignId, candidateId }: NewCreditEntry,
): Promise<number | undefined> {
  const now = realClock(clock).now()
  const { rows } = await sql<{ balance_after: number }>`
    with changed as (
      update credit_balances set balance = balance + ${amount}, entries = entries + 1,
        last_entry_at = greatest(last_entry_at, ${new Date(now)})
      where org_id = ${orgId} and mode = ${mode} and balance + ${amount} >= 0
      returning balance, entries, last_entry_at
    )
    insert into credit_entries (org_id, mode, number, entry_id, amount, reason, campaign_id, candidate_id, balance_after, created_at)
    select ${orgId}, ${mode}, entries, ${newId('CE_', now)}, ${amount}, ${reason}, ${campaignId ?? null},
      ${candidateId ?? null}, balance, last_entry_at
    from changed returning balance_after`.execute(tx)
  return rows[0]?.balance_after
}

export async function balanceOf(tx: Queries, { orgId, mode }: OrgScope): Promise<number> {
  const { rows } = await sql<{ balance: number }>`
    select balance from credit_balances where org_id = ${orgId} and mode = ${mode}`.execute(tx)
  return rows[0]?.balance ?? 0
}

/** Lists entries, newest first; `before` is the number of the last entry on the previous page. */
export async function listCreditEntries(
  tx: Queries,
  { orgId, mode }: OrgScope,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<(CreditEntry & { number: number })[]> {
  const { rows } = await sql<CreditEntry & { number: number }>`
    select number, entry_id, amount, reason, campaign_id, balance_after, created_at from credit_entries
    where org_id = ${orgId} and mode = ${mode} and (${before ?? null}::bigint is null or number < ${before ?? null}::bigint)
    order by number desc limit ${limit}`.execute(tx)
  return rows
}

/** Grants the initial credits of a demo organisation, once. */
export async function grantInitialCredits(tx: Tx, orgId: string, clock: Clock): Promise<void> {
  const scope = { orgId, mode: 'test' as const }
  await sql`select pg_advisory_xact_lock(hashtextextended(${`first credits ${orgId}`}, 0))`.execute(tx)
  if ((await listCreditEntries(tx, scope, { before: undefined, limit: 1 })).length === 0)
    await grantCredits(tx, scope, clock, INITIAL_CREDITS)
}

const INITIAL_CREDITS = 10_000
