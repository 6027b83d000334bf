import { ADMIN_KEY_NAME } from '../catalogue/public/admin-key.ts'
import type { AdminChange } from '../catalogue/public/skill-admin-routes.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { recordAuditEntry } from './audit.ts'

/** Records a change that was made with the admin key. */
export function recordAdminChange(tx: Tx, clock: Clock, { address, userAgent, ...change }: AdminChange): Promise<void> {
  return recordAuditEntry(tx, clock, { who: ADMIN_KEY_NAME, actor: 'key', ...change, source: { address, userAgent } })
}
