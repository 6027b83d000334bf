import type { Mode } from '../access/keys.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'

export interface NewAuditEntry {
  /** The person or program that made the change: `operator`, an email address, or `cli:` and the name of the system account. */
  who: string
  orgId?: string | undefined
  mode?: Mode | undefined
  action: string
  subject?: string | undefined
  details?: object | undefined
  requestId?: string | undefined
}

/** Stores an audit entry in the transaction of the change that it describes. */
export async function recordAuditEntry(tx: Tx, clock: Clock, entry: NewAuditEntry): Promise<void> {
  const now = clock.now()
  await tx
    .insertInto('audit_log')
    .values({
      audit_id: newId('AU_', now),
      at: new Date(now),
      who: entry.who,
      org_id: entry.orgId ?? null,
      mode: entry.mode ?? null,
      action: entry.action,
      subject: entry.subject ?? null,
      details: JSON.stringify(entry.details ?? {}),
      request_id: entry.requestId ?? null,
    })
    .execute()
}

export interface AuditListOptions {
  orgId?: string | undefined
  /** ID of an audit entry: only older entries are returned. */
  before?: string | undefined
  limit: number
}

/** Returns audit entries, newest first. */
export async function listAuditEntries(queries: Queries, { orgId, before, limit }: AuditListOptions) {
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
