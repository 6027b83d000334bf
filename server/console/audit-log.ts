import type { Clock } from '../platform/clock.ts'
import { MINUTE } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log.ts'
import { type AuditSource, recordAuditEntry } from './audit.ts'
import { type AuditChain, openAuditChain } from './audit-chain.ts'

/** The hash chain of the audit log, and the entries about failed authentication. */
export interface AuditLog extends AuditChain {
  /** Records a failed sign-in. Under attack, entries above the limit are only counted. */
  recordFailure(failure: AuthenticationFailure): Promise<void>
}

interface AuthenticationFailure {
  action: 'session.fail' | 'session.confirm_fail' | 'admin_key.fail'
  reason: string
  /** The email address that the visitor submitted or is signed in with. */
  email?: string | undefined
  /** The organisation whose identity provider was used. */
  orgId?: string | undefined
  source: AuditSource
  requestId: string
}

/** Limit of each process. A caller without an account must not be able to fill the database. */
const MAX_FAILURES_PER_MINUTE = 60

export function openAuditLog({ db, clock, log }: { db: Database; clock: Clock; log: Log }): AuditLog {
  const chain = openAuditChain({ db, log })
  let currentMinute = 0
  let recordedCount = 0
  let skippedCount = 0
  return {
    ...chain,
    async recordFailure({ action, reason, email, orgId, source, requestId }) {
      const minute = Math.floor(clock.now() / MINUTE)
      if (minute !== currentMinute) {
        currentMinute = minute
        recordedCount = 0
      }
      if (recordedCount >= MAX_FAILURES_PER_MINUTE) {
        skippedCount++
        return
      }
      recordedCount++
      const details = { reason, ...(email ? { email } : {}), ...(skippedCount > 0 ? { skipped: skippedCount } : {}) }
      skippedCount = 0
      await db.transaction((tx) =>
        recordAuditEntry(tx, clock, { actor: 'visitor', orgId, action, details, source, requestId }),
      )
    },
  }
}
