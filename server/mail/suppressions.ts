import { sql } from 'kysely'
import type { Context } from '../context.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'

/** The role in which a person receives an email. `all`: every email except sign-in links. */
export const audiences = ['reviewer', 'student', 'candidate', 'all'] as const
export type Audience = (typeof audiences)[number]

export const suppressionReasons = ['unsubscribed', 'bounced', 'complained', 'operator'] as const
type SuppressionReason = (typeof suppressionReasons)[number]

/** A mailbox that must not be written to, without its address. */
export interface Suppression {
  suppression_id: string
  audience: Audience
  /** Null: the emails of every organisation. */
  org_id: string | null
  reason: SuppressionReason
  /** ID of the email or message that led to the suppression. */
  caused_by: string | null
  created_at: Date
}

export interface NewSuppression {
  address: string
  audience: Audience
  orgId?: string
  reason: SuppressionReason
  causedBy?: string
}

type SuppressionDeps = Pick<Context, 'clock' | 'mailboxes'>

const columns = ['suppression_id', 'audience', 'org_id', 'reason', 'caused_by', 'created_at'] as const

/** Suppresses a mailbox. Returns undefined if the same emails were already suppressed. */
export async function suppressMailbox(
  tx: Tx,
  { clock, mailboxes }: SuppressionDeps,
  { address, audience, orgId, reason, causedBy }: NewSuppression,
): Promise<Suppression | undefined> {
  const now = clock.now()
  const row = await tx
    .insertInto('mail_suppressions')
    .values({
      suppression_id: newId('SU_', now),
      mailbox: mailboxes.hash(address),
      audience,
      org_id: orgId ?? null,
      reason,
      caused_by: causedBy ?? null,
      created_at: new Date(now),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(columns)
    .executeTakeFirst()
  return row as Suppression | undefined
}

/** Returns the suppression that applies to an email: of its audience or of all emails, by its organisation or by every one. */
export async function findSuppression(
  queries: Queries,
  { mailboxes }: Pick<Context, 'mailboxes'>,
  { address, audience, orgId }: { address: string; audience: Audience; orgId: string | undefined },
): Promise<Suppression | undefined> {
  const { rows } = await sql<Suppression>`
    select suppression_id, audience, org_id, reason, caused_by, created_at from mail_suppressions
    where mailbox = ${mailboxes.hash(address)} and audience in ('all', ${audience})
      and (org_id is null or org_id = ${orgId ?? null})
    order by reason = 'bounced', suppression_id limit 1`.execute(queries)
  return rows[0]
}

/** Removes all suppressions of a mailbox and returns them. */
export async function unsuppressMailbox(
  tx: Tx,
  { mailboxes }: Pick<Context, 'mailboxes'>,
  address: string,
): Promise<Suppression[]> {
  const rows = await tx
    .deleteFrom('mail_suppressions')
    .where('mailbox', '=', mailboxes.hash(address))
    .returning(columns)
    .execute()
  return rows as Suppression[]
}

/** Removes one suppression; returns undefined if it does not exist. */
export async function removeSuppression(tx: Tx, suppressionId: string): Promise<Suppression | undefined> {
  const row = await tx
    .deleteFrom('mail_suppressions')
    .where('suppression_id', '=', suppressionId)
    .returning(columns)
    .executeTakeFirst()
  return row as Suppression | undefined
}

export interface SuppressionFilter {
  /** The ID of the last suppression on the previous page. */
  beforeId?: string | undefined
  limit: number
}

/** Returns suppressions, newest first. */
export async function listSuppressions(
  queries: Queries,
  { beforeId, limit }: SuppressionFilter,
): Promise<Suppression[]> {
  const rows = await queries
    .selectFrom('mail_suppressions')
    .select(columns)
    .$if(beforeId !== undefined, (query) => query.where('suppression_id', '<', beforeId!))
    .orderBy('suppression_id', 'desc')
    .limit(limit)
    .execute()
  return rows as Suppression[]
}
