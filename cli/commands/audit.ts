import { hostname, userInfo } from 'node:os'
import { type NewAuditEntry, recordAuditEntry } from '../../server/console/audit.ts'
import type { Clock } from '../../server/platform/clock.ts'
import type { Tx } from '../../server/platform/database/database.ts'

/** Adds a change made from the command line to the audit log, in the transaction of the change. */
export function recordCliChange(
  tx: Tx,
  clock: Clock,
  change: Omit<NewAuditEntry, 'who' | 'actor' | 'requestId' | 'source'>,
): Promise<void> {
  return recordAuditEntry(tx, clock, { who: cliActor(), actor: 'cli', ...change })
}

/** Returns the name under which changes made from the command line are recorded. */
export function cliActor(): string {
  return `cli:${accountName()}@${hostname()}`
}

export function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown') // some containers run as a user without a name
  }
}
