import { userInfo } from 'node:os'
import { type Change, recordChange } from '../../server/console/audit.ts'
import type { Clock } from '../../server/platform/clock.ts'
import type { Tx } from '../../server/platform/database/database.ts'

/** Writes down, beside the change itself, who made it from the command line. */
export function noteCommand(tx: Tx, clock: Clock, change: Omit<Change, 'who' | 'requestId'>): Promise<void> {
  return recordChange(tx, clock, { who: `cli:${accountName()}`, ...change })
}

function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown') // an account without a name, as in some containers
  }
}
