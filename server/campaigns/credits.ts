import { sql } from 'kysely'
import type { OwnerScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'

export const creditReasons = ['grant', 'enrolment', 'refund'] as const
export type CreditReason = (typeof creditReasons)[number]

export interface CreditEntry {
  entry_id: string
  /** Negative when spent. */
  amount: number
  reason: CreditReason
  campaign_id: string | null
  balance_after: number
  created_at: Date
}

/** The most that a balance may hold: sums stay exact far beyond it. */
export const MOST_CREDITS = 1_000_000_000_000

/** Adds credits; answers the new balance. */
export async function grantCredits(tx: Tx, scope: OwnerScope, clock: Clock, amount: number): Promise<number> {
  const { orgId, mode } = scope
  const known = await tx.selectFrom('organisations').select('org_id').where('org_id', '=', orgId).executeTakeFirst()
  if (!known) throw problem('NOT_FOUND', `There is no organisation ${orgId}.`)
  await sql`insert into credit_balances (org_id, mode, balance, entries) values (${orgId}, ${mode}, 0, 0)
    on conflict do nothing`.execute(tx)
  const balance = await enter(tx, scope, clock, { amount, reason: 'grant' })
  if (balance! > MOST_CREDITS) throw problem('LIMIT_EXCEEDED', `A balance holds at most ${MOST_CREDITS} credits.`)
  return balance!
}

/** Takes one credit a candidate, all or none; answers what is left. */
export async function spendCredits(
  tx: Tx,
  scope: OwnerScope,
  clock: Clock,
  campaignId: string,
  candidates: number,
): Promise<number> {
  if (candidates === 0) return balanceOf(tx, scope)
  const left = await enter(tx, scope, clock, { amount: -candidates, reason: 'enrolment', campaignId })
  if (left !== undefined) return left
  const there = await balanceOf(tx, scope)
  const message = `needs ${candidates} ${candidates === 1 ? 'credit' : 'credits'}, and the balance is ${there}`
  throw problem('INSUFFICIENT_CREDITS', `This ${message}.`, { details: [{ path: 'candidates', message }] })
}

/** Gives a candidate's credit back. The ledger takes a second refund for the same candidate as a mistake. */
export async function refundCredit(
  tx: Tx,
  scope: OwnerScope,
  clock: Clock,
  campaignId: string,
  candidateId: string,
): Promise<void> {
  await enter(tx, scope, clock, { amount: 1, reason: 'refund', campaignId, candidateId })
}

interface Entry {
  amount: number
  reason: CreditReason
  campaignId?: string
  candidateId?: string
}

/** The balance after the entry, or undefined where it would go below zero. Entries of one owner take turns. */
async function enter(
  tx: Tx,
  { orgId, mode }: OwnerScope,
  clock: Clock,
  { amount, reason, campaignId, candidateId }: Entry,
): Promise<number | undefined> {
  const now = clock.now()
  const { rows } = await sql<{ balance_after: number }>`
    with changed as (
      update credit_balances set balance = balance + ${amount}, entries = entries + 1
      where org_id = ${orgId} and mode = ${mode} and balance + ${amount} >= 0
      returning balance, entries
    )
    insert into credit_entries (org_id, mode, number, entry_id, amount, reason, campaign_id, candidate_id, balance_after, created_at)
    select ${orgId}, ${mode}, entries, ${newId('CE_', now)}, ${amount}, ${reason}, ${campaignId ?? null},
      ${candidateId ?? null}, balance, ${new Date(now)}
    from changed returning balance_after`.execute(tx)
  return rows[0]?.balance_after
}

export async function balanceOf(tx: Queries, { orgId, mode }: OwnerScope): Promise<number> {
  const { rows } = await sql<{ balance: number }>`
    select balance from credit_balances where org_id = ${orgId} and mode = ${mode}`.execute(tx)
  return rows[0]?.balance ?? 0
}

/** Newest first; `before` is the number of the last entry of the page before. */
export async function listEntries(
  tx: Queries,
  { orgId, mode }: OwnerScope,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<(CreditEntry & { number: number })[]> {
  const { rows } = await sql<CreditEntry & { number: number }>`
    select number, entry_id, amount, reason, campaign_id, balance_after, created_at from credit_entries
    where org_id = ${orgId} and mode = ${mode} and (${before ?? null}::bigint is null or number < ${before ?? null}::bigint)
    order by number desc limit ${limit}`.execute(tx)
  return rows
}

/** What a demo organisation starts with; given once. */
export async function giveFirstCredits(tx: Tx, orgId: string, clock: Clock): Promise<void> {
  const scope = { orgId, mode: 'test' as const }
  await sql`select pg_advisory_xact_lock(hashtextextended(${`first credits ${orgId}`}, 0))`.execute(tx)
  if ((await listEntries(tx, scope, { before: undefined, limit: 1 })).length === 0)
    await grantCredits(tx, scope, clock, FIRST_CREDITS)
}

export const FIRST_CREDITS = 10_000
