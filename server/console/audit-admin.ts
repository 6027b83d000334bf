import type { AdminChange } from '../catalogue/public/skill-admin-routes.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { recordAuditEntry } from './audit.ts'

/** Records a change that was made with the admin key. */
export function recordAdminChange(tx: Tx, clock: Clock, { address, userAgent, ...change }: AdminChange): Promise<void> {
  return recordAuditEntry(tx, clock, { who: 'admin key', actor: 'key', ...change, source: { address, userAgent } })
}
