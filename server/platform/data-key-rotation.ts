import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { type Clock, DAY } from './clock.ts'
import type { Database, Tx } from './database/database.ts'
import { waitingForDataKey } from './database/process-heartbeat.ts'
import {
  dataKeyLabel,
  deriveMacKey,
  insertDataKey,
  listDataKeys,
  macKeyPurpose,
  masterKeyId,
  newDataKeyId,
  type Vault,
} from './vault.ts'

/** A column with texts that the vault sealed. */
export interface SealedColumn {
  table: string
  column: string
  /** Columns of the primary key. */
  id: readonly string[]
  /** Returns the purpose that the text of a row was sealed for, given the values of `id`. */
  purpose(...id: string[]): string
}

export const sealedMacKeys: SealedColumn = {
  table: 'retired_mac_keys',
  column: 'mac_key',
  id: ['data_key_id'],
  purpose: macKeyPurpose,
}

export interface DataKeyRotationOptions {
  db: Database
  vault: Vault
  clock: Clock
  masterKey: Buffer
  columns: readonly SealedColumn[]
  /** Called after each batch with the number of texts that were encrypted again in this run, and the number to encrypt. */
  onProgress?: (done: number, total: number) => void
  /** Called when the rotation waits for server processes. */
  onWait?: (text: string) => void
  /** Maximum time to wait for server processes and open transactions. */
  waitTimeoutMs?: number
}

export interface DataKeyRotation {
  dataKeyId: string
  /** Whether an earlier run had started the rotation. */
  resumed: boolean
  resealed: number
}

const BATCH_SIZE = 500
const WAIT_TIMEOUT_MS = 60_000
const WAIT_POLL_INTERVAL_MS = 100
/** Cursors that were returned before a rotation are accepted for this long. */
const OLD_CURSORS_VALID_MS = 30 * DAY
/** Arbitrary, but different from the other advisory locks in the database. */
const ADVISORY_LOCK_ID = 7_411_003

/**
 * Replaces the data key, encrypts every secret again with the new one, and deletes the old one. Servers keep running: they load the
 * new key before it encrypts anything, and decrypt with both keys until the old one is deleted. Every step is idempotent and
 * recorded in the status of the keys, so that a run that was interrupted is completed by the next one.
 */
export async function rotateDataKey(options: DataKeyRotationOptions): Promise<DataKeyRotation> {
  const { db, vault, clock, masterKey } = options
  return db.withSession(async (lock) => {
    try {
      const { rows } = await lock.query('select pg_try_advisory_lock($1) as locked', [ADVISORY_LOCK_ID])
      if (!rows[0].locked)
        throw new Error(
          'the data key is already being rotated by another process; wait until that process has finished',
        )
      return await rotate()
    } finally {
      // Release the lock before this call ends, so that the next one gets it. If the query fails, closing the connection releases it later.
      await lock.query('select pg_advisory_unlock($1)', [ADVISORY_LOCK_ID]).catch(() => undefined)
    }
  })

  async function rotate(): Promise<DataKeyRotation> {
    await requireSingleMasterKey(db, masterKey)
    const keys = await listDataKeys(db.queries, masterKey)
    const resumed = keys.length > 1
    const nextKey = keys.find(({ status }) => status === 'next')
    let dataKeyId = keys.find(({ status }) => status === 'active')!.id
    if (nextKey || !resumed) {
      dataKeyId = nextKey?.id ?? (await introduceKey())
      await vault.reload()
      await waitForProcesses(options, dataKeyId, 'loaded')
      await activateKey(db, dataKeyId)
    }
    await vault.reload()
    // Processes that have not switched yet would have to repeat their transactions once the old key is closed.
    await waitForProcesses(options, dataKeyId, 'sealing')
    const resealed = await resealAll(options, dataKeyId)
    await closeOldKeys(db)
    await waitForOlderTransactions(options)
    const resealedLast = await resealAll(options, dataKeyId, resealed)
    await deleteOldKeys(options)
    await vault.reload()
    return { dataKeyId, resumed, resealed: resealed + resealedLast }
  }

  async function introduceKey(): Promise<string> {
    const id = newDataKeyId()
    const dataKey = { id, key: randomBytes(32), status: 'next', labelled: true }
    await db.transaction((tx) => insertDataKey(tx, dataKey, masterKey, clock))
    return id
  }
}

/** The new data key is stored once per master key, and only one of them is known here. */
async function requireSingleMasterKey(db: Database, masterKey: Buffer) {
  const other = await db.queries
    .selectFrom('data_keys')
    .select('master_key_id')
    .where('master_key_id', '<>', masterKeyId(masterKey))
    .executeTakeFirst()
  if (other)
    throw new Error(
      'a rotation of the master key is in progress; restart every process with the new MASTER_KEY and run `npx attestry master-key finish`, then rotate the data key',
    )
}

async function activateKey(db: Database, dataKeyId: string) {
  await sql`
    update data_keys set status = case when data_key_id = ${dataKeyId} then 'active' else 'retiring' end`.execute(
    db.queries,
  )
}

async function closeOldKeys(db: Database) {
  await sql`update data_keys set status = 'closed' where status = 'retiring'`.execute(db.queries)
}

/** Waits until every live server process has loaded the new key, or encrypts with it. */
async function waitForProcesses(options: DataKeyRotationOptions, dataKeyId: string, state: 'loaded' | 'sealing') {
  const { db, clock, onWait } = options
  let hasReported = false
  await waitUntil(options, async (isLast) => {
    const processCount = await waitingForDataKey(db, clock.now(), dataKeyId, state)
    if (processCount === 0) return true
    const subject = processCount === 1 ? '1 server process' : `${processCount} server processes`
    if (!hasReported) onWait?.(`Waiting for ${subject} to load the new data key…`)
    hasReported = true
    if (isLast)
      throw new Error(
        `${subject} did not load the new data key; restart all server processes with this version and the current master key, then run the command again, which continues the rotation`,
      )
    return false
  })
}

/**
 * Waits for the transactions that were running when the old keys were closed: they may have written secrets that are encrypted with
 * them. Later ones cannot, because the database rejects these texts.
 */
async function waitForOlderTransactions(options: DataKeyRotationOptions) {
  const { db } = options
  const { rows } = await sql<{ next: string }>`select pg_snapshot_xmax(pg_current_snapshot())::text as next`.execute(
    db.queries,
  )
  await waitUntil(options, async (isLast) => {
    const { rows: current } = await sql<{ ended: boolean }>`
      select pg_snapshot_xmin(pg_current_snapshot()) >= ${rows[0]!.next}::xid8 as ended`.execute(db.queries)
    if (!current[0]!.ended && isLast)
      throw new Error(
        'a transaction that started before the rotation is still open; end it (see pg_stat_activity), then run the command again, which continues the rotation',
      )
    return current[0]!.ended
  })
}

async function waitUntil(
  { waitTimeoutMs = WAIT_TIMEOUT_MS }: DataKeyRotationOptions,
  isDone: (isLast: boolean) => Promise<boolean>,
) {
  const deadline = performance.now() + waitTimeoutMs
  while (!(await isDone(performance.now() >= deadline))) await pause(WAIT_POLL_INTERVAL_MS)
}

/** Encrypts all texts with the new key, in batches. Returns their number. */
async function resealAll(options: DataKeyRotationOptions, dataKeyId: string, doneBefore = 0): Promise<number> {
  const { db, columns, onProgress } = options
  const label = dataKeyLabel(dataKeyId)
  let total = doneBefore
  for (const column of columns) total += await countRowsToReencrypt(db, column, label)
  let done = 0
  const unreadable: string[] = []
  for (const column of columns) {
    for (let after: string[] | undefined, isDone = false; !isDone; ) {
      const batch = await db.transaction((tx) => resealBatch(tx, options.vault, column, label, after))
      after = batch.last
      isDone = after === undefined
      done += batch.resealed
      unreadable.push(...batch.unreadable)
      onProgress?.(doneBefore + done, total)
    }
  }
  // The old key may still be able to decrypt them, so it must not be deleted.
  if (unreadable.length > 0)
    throw new Error(
      `${unreadable.length} ${unreadable.length === 1 ? 'secret' : 'secrets'} cannot be decrypted, so the old data key was not deleted: ${unreadable.slice(0, 5).join(', ')}${unreadable.length > 5 ? ', …' : ''}; restore or delete these rows, then run the command again, which continues the rotation`,
    )
  return done
}

/** Returns a condition for rows that are not encrypted with the data key that has this label. */
function needsReencryption({ column }: SealedColumn, label: Buffer): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(column)} is not null and substring(${sql.ref(column)} from 1 for ${label.length}::int) <> ${label}::bytea`
}

async function countRowsToReencrypt(db: Database, column: SealedColumn, label: Buffer): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(column.table)} where ${needsReencryption(column, label)}`.execute(
    db.queries,
  )
  return rows[0]!.count
}

async function resealBatch(
  tx: Tx,
  vault: Vault,
  sealedColumn: SealedColumn,
  label: Buffer,
  after: string[] | undefined,
): Promise<{ resealed: number; unreadable: string[]; last: string[] | undefined }> {
  const { table, column, id, purpose } = sealedColumn
  const idColumns = sql.join(id.map((name) => sql.ref(name)))
  const isAfter = after ? sql`(${idColumns}) > (${sql.join(after)})` : sql`true`
  const { rows } = await sql<{ id: string[]; sealed: Buffer }>`
    select array[${idColumns}]::text[] as id, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ${isAfter} and ${needsReencryption(sealedColumn, label)} order by ${idColumns} limit ${BATCH_SIZE}`.execute(
    tx,
  )
  const unreadable: string[] = []
  const changes = rows.flatMap((row) => {
    try {
      return [{ ...row, resealed: vault.seal(vault.open(row.sealed, purpose(...row.id)), purpose(...row.id)) }]
    } catch {
      unreadable.push(`${table}.${column} ${row.id.join(' ')}`)
      return []
    }
  })
  if (changes.length > 0) {
    const idValues = id.map((_, i) => sql`${changes.map((change) => change.id[i])}::text[]`)
    const newColumns = id.map((_, i) => sql.raw(`id${i}`))
    // A text that changed since it was read is skipped: the change was sealed with the new key, or is found by the next pass.
    await sql`
      update ${sql.table(table)} as stored set ${sql.ref(column)} = changed.resealed
      from unnest(${sql.join(idValues)}, ${changes.map(({ sealed }) => sealed)}::bytea[], ${changes.map(({ resealed }) => resealed)}::bytea[])
        as changed(${sql.join(newColumns)}, sealed, resealed)
      where ${sql.join(
        id.map((name, i) => sql`stored.${sql.ref(name)} = changed.${newColumns[i]!}`),
        sql` and `,
      )} and stored.${sql.ref(column)} = changed.sealed`.execute(tx)
  }
  return {
    resealed: changes.length,
    unreadable,
    last: rows.length === BATCH_SIZE ? rows.at(-1)!.id : undefined,
  }
}

/** Deletes the old data keys, and keeps the keys that verify cursors, from which a data key cannot be computed. */
async function deleteOldKeys({ db, vault, clock, masterKey }: DataKeyRotationOptions) {
  const now = clock.now()
  const keys = await listDataKeys(db.queries, masterKey)
  await db.transaction(async (tx) => {
    await tx.deleteFrom('retired_mac_keys').where('valid_until', '<=', new Date(now)).execute()
    for (const { id, key, status } of keys) {
      if (status !== 'closed') continue
      await tx
        .insertInto('retired_mac_keys')
        .values({
          data_key_id: id,
          mac_key: vault.seal(deriveMacKey(key).toString('base64'), macKeyPurpose(id)),
          valid_until: new Date(now + OLD_CURSORS_VALID_MS),
        })
        .execute()
      await tx.deleteFrom('data_keys').where('data_key_id', '=', id).execute()
    }
  })
}
