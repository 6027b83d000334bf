import { sql } from 'kysely'
import { sealExistingOrders } from './ats/seal-existing.ts'
import { moveExistingOptOuts, sealExistingCandidates, sealExistingMessages } from './campaigns/seal-existing.ts'
import { sealExistingCredentials } from './credentials/seal-existing.ts'
import { sealExistingEvents, sealExistingOutbox } from './events/seal-existing.ts'
import { sealExistingEmails } from './mail/mail.ts'
import type { Database, Tx } from './platform/database/database.ts'
import type { Log } from './platform/log.ts'
import { hashExistingMailboxes, sealExistingReviews, sealExistingSessions } from './verification/seal-existing.ts'

/** Arbitrary, but different from the other advisory locks in the database. */
const ADVISORY_LOCK_ID = 7_411_033
const PROGRESS_INTERVAL_MS = 5000

/** Seals the next rows after a position, and returns their number and the position of the last one; undefined at the end. */
type SealBatch = (tx: Tx, after: string) => Promise<{ rows: number; last: string | undefined }>

/** In this order: sessions before reviews and credentials, and candidates before orders and events, which use their keys. */
const STEPS: [name: string, sealBatch: SealBatch][] = [
  ['candidates', sealExistingCandidates],
  ['messages', sealExistingMessages],
  ['opt_outs', moveExistingOptOuts],
  ['verification_sessions', sealExistingSessions],
  ['verification_reviews', sealExistingReviews],
  ['endorsements', hashExistingMailboxes],
  ['ats_orders', sealExistingOrders],
  ['credentials', sealExistingCredentials],
  ['events', sealExistingEvents],
  ['event_outbox', sealExistingOutbox],
  ['mails', sealExistingEmails],
]

/**
 * Seals the personal values that earlier versions stored. Runs at the start, before any request is served. Each batch is a transaction, and
 * a finished step is recorded, so that an interrupted start continues.
 */
export async function sealExistingRows(db: Database, log: Log, progress?: (text: string) => void): Promise<void> {
  if ((await findSteps(db)).size === 0) return
  progress?.('Encrypting the personal values of existing rows…')
  // Closing the connection releases the lock.
  await db.withSession(async (lock) => {
    await lock.query('select pg_advisory_lock($1)', [ADVISORY_LOCK_ID])
    const remaining = await findSteps(db) // another process may have finished them
    for (const [name, sealBatch] of STEPS)
      if (remaining.has(name)) {
        const rows = await runStep(db, name, sealBatch, progress)
        log.info({ table: name, rows }, 'personal values of existing rows encrypted')
      }
  })
}

async function runStep(
  db: Database,
  name: string,
  sealBatch: SealBatch,
  progress: ((text: string) => void) | undefined,
): Promise<number> {
  let total = 0
  let reportedAt = Date.now()
  for (let position: string | undefined = ''; position !== undefined; ) {
    const after: string = position
    const { rows, last } = await db.transaction((tx) => sealBatch(tx, after))
    total += rows
    position = last
    if (Date.now() - reportedAt < PROGRESS_INTERVAL_MS) continue
    progress?.(`Encrypting the personal values of existing rows: ${total.toLocaleString('en-US')} rows of ${name}…`)
    reportedAt = Date.now()
  }
  await sql`delete from unsealed_tables where name = ${name}`.execute(db.queries)
  return total
}

async function findSteps(db: Database): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`select name from unsealed_tables`.execute(db.queries)
  return new Set(rows.map(({ name }) => name))
}
