import type { Mode } from '../access/keys.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'

/** Something that somebody changed. */
export interface Change {
  /** `operator`, a mail address, or `cli:` and the name of the account. */
  who: string
  orgId?: string | undefined
  mode?: Mode | undefined
  action: string
  subject?: string | undefined
  details?: object | undefined
  requestId?: string | undefined
}

/** In the transaction of the change: there is never one without the other. */
export async function recordChange(tx: Tx, clock: Clock, change: Change): Promise<void> {
  const now = clock.now()
  await tx
    .insertInto('audit_log')
    .values({
      audit_id: newId('AU_', now),
      at: new Date(now),
      who: change.who,
      org_id: change.orgId ?? null,
      mode: change.mode ?? null,
      action: change.action,
      subject: change.subject ?? null,
      details: JSON.stringify(change.details ?? {}),
      request_id: change.requestId ?? null,
    })
    .execute()
}

export interface AuditPage {
  orgId?: string | undefined
  /** The last entry of the page before. */
  before?: string | undefined
  limit: number
}

/** Newest first. */
export async function listChanges(queries: Queries, { orgId, before, limit }: AuditPage) {
  const rows = await queries
    .selectFrom('audit_log')
    .selectAll()
    .$if(orgId !== undefined, (query) => query.where('org_id', '=', orgId!))
    .$if(before !== undefined, (query) => query.where('audit_id', '<', before!))
    .orderBy('audit_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }))
}
