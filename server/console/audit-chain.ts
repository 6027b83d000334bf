import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { canonicalJson } from '../platform/canonical-json.ts'
import type { Clock } from '../platform/clock.ts'
import { coalesce } from '../platform/coalesce.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import { startPoller } from '../platform/jobs/poller.ts'
import type { Log } from '../platform/log.ts'
import { AUDIT_RECORDED, commitmentOf, type PersonalValue } from './audit.ts'

const BATCH_ENTRIES = 500
/** Interval of the poll for entries of a process that ended, or lost its connection, before it could send a notification. */
const POLL_INTERVAL_MS = 5000
const RETRY_DELAY_MS = 1000

/** The hash before the first entry. */
const FIRST_PREVIOUS = '0'.repeat(64)

/** Adds committed audit entries to the hash chain. */
export interface AuditChain {
  /** Adds all entries that are committed by now. */
  extend(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts adding committed entries to the chain. An advisory lock ensures that only one process adds entries at a time, as in the event
 * ledger.
 */
export function openAuditChain({ db, log }: { db: Database; log: Log }): AuditChain {
  let closed = false
  const extend = coalesce(() => extendChain(db, () => closed))
  db.onCommitted(AUDIT_RECORDED, () => void extend().catch(retrySoon))
  const poller = startPoller({
    async poll() {
      await extend()
      return POLL_INTERVAL_MS
    },
    onError: logFailure,
    retryDelayMs: RETRY_DELAY_MS,
  })
  poller.pollWithin(POLL_INTERVAL_MS)
  return {
    extend,
    async close() {
      closed = true
      await poller.stop()
      await extend().catch(() => {}) // waits for the current run; a run after `closed` does nothing
    },
  }

  function retrySoon(error: unknown) {
    logFailure(error)
    poller.pollWithin(RETRY_DELAY_MS)
  }

  function logFailure(error: unknown) {
    if (!closed) log.warn({ err: error }, 'adding audit entries to the hash chain failed, retrying')
  }
}

/** The fields of an entry that its hash covers. */
interface ChainedFields {
  audit_id: string
  /** With microseconds, as stored. */
  at: string
  actor: string | null
  who: string | null
  org_id: string | null
  mode: string | null
  action: string
  subject: string | null
  details: unknown
  request_id: string | null
  commitments: Record<string, string>
}

const chainedFields = sql`e.audit_id, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, e.actor, e.who,
  e.org_id, e.mode, e.action, e.subject, e.details, e.request_id, e.commitments`

/** Returns the SHA-256 of the entry's canonical JSON, which contains its position and the hash before it. */
function hashEntry(position: number, previous: string, fields: ChainedFields): string {
  const { audit_id, at, actor, who, org_id, mode, action, subject, details, request_id, commitments } = fields
  const entry = { audit_id, at, actor, who, org_id, mode, action, subject, details, request_id, commitments }
  return createHash('sha256')
    .update(canonicalJson({ position, previous, ...entry }))
    .digest('hex')
}

/** Adds all committed entries to the chain. */
export async function extendChain(db: Database, isStopped: () => boolean = () => false): Promise<void> {
  while (!isStopped() && (await hasUnchainedEntries(db.queries))) await db.transaction(chainBatch)
}

async function hasUnchainedEntries(queries: Queries): Promise<boolean> {
  return (await sql`select 1 from audit_unchained limit 1`.execute(queries)).rows.length > 0
}

async function chainBatch(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('audit chain', 0))`.execute(tx)
  const { rows } = await sql<ChainedFields>`
    with unchained as (
      delete from audit_unchained
      where audit_id in (select audit_id from audit_unchained order by audit_id limit ${BATCH_ENTRIES})
      returning audit_id
    )
    select ${chainedFields} from unchained join audit_log as e using (audit_id) order by e.audit_id`.execute(tx)
  if (rows.length === 0) return
  const head = await findHead(tx)
  let position = head?.position ?? 0
  let previous = head?.hash ?? FIRST_PREVIOUS
  const links = rows.map((fields) => {
    position++
    previous = hashEntry(position, previous, fields)
    return { position, audit_id: fields.audit_id, hash: previous }
  })
  await sql`
    insert into audit_chain (position, audit_id, hash)
    select position, audit_id, decode(hash, 'hex')
    from unnest(${links.map((link) => link.position)}::bigint[], ${links.map((link) => link.audit_id)}::text[],
      ${links.map((link) => link.hash)}::text[]) as link (position, audit_id, hash)`.execute(tx)
}

/** A position of the chain and the hash at it. */
export interface ChainHead {
  position: number
  hash: string
}

/** Returns the newest position of the chain; undefined if the chain is empty. */
export async function findHead(queries: Queries): Promise<ChainHead | undefined> {
  const { rows } = await sql<ChainHead>`
    select position, encode(hash, 'hex') as hash from audit_chain order by position desc limit 1`.execute(queries)
  return rows[0]
}

/** Returns the head that was published last. */
export async function findPublishedHead(queries: Queries): Promise<ChainHead | undefined> {
  const { rows } = await sql<ChainHead>`
    select position, encode(hash, 'hex') as hash from audit_heads order by position desc limit 1`.execute(queries)
  return rows[0]
}

/**
 * Stores and logs the newest hash. A log or metrics server that keeps it can later prove that entries before it were neither
 * changed nor removed, even by a person with full access to the database.
 */
export async function publishHead({ db, clock, log }: { db: Database; clock: Clock; log: Log }): Promise<void> {
  await extendChain(db)
  const head = await findHead(db.queries)
  if (!head) return
  await sql`
    insert into audit_heads (position, hash, published_at)
    values (${head.position}, decode(${head.hash}, 'hex'), ${new Date(clock.now())}) on conflict do nothing`.execute(
    db.queries,
  )
  log.info({ position: head.position, hash: head.hash }, 'audit head')
}

export interface ExportedEntry extends ChainedFields {
  position: number
  previous: string
  hash: string
  personal: Record<string, PersonalValue>
}

interface ChainRow extends ChainedFields {
  position: number
  hash: string
  /** Null if the entry is missing. */
  personal: Record<string, PersonalValue> | null
  chained_id: string
}

async function* readChain(queries: Queries): AsyncGenerator<ChainRow> {
  let after = 0
  for (;;) {
    const { rows } = await sql<ChainRow>`
      select c.position, c.audit_id as chained_id, encode(c.hash, 'hex') as hash, e.personal, ${chainedFields}
      from audit_chain as c left join audit_log as e using (audit_id)
      where c.position > ${after} order by c.position limit ${BATCH_ENTRIES}`.execute(queries)
    yield* rows
    if (rows.length < BATCH_ENTRIES) return
    after = rows.at(-1)!.position
  }
}

/** Returns the chained entries from a time on, in order, with everything that is needed to verify them elsewhere. */
export async function* exportEntries(queries: Queries, since: number | undefined): AsyncGenerator<ExportedEntry> {
  let previous = FIRST_PREVIOUS
  for await (const { chained_id, personal, ...row } of readChain(queries)) {
    if (personal && (since === undefined || Date.parse(row.at) >= since)) yield { previous, ...row, personal }
    previous = row.hash
  }
}

export interface ChainReport {
  /** Number of entries that were verified before the first error. */
  entries: number
  head: ChainHead | undefined
  /** Number of personal values that were erased. */
  erasedValues: number
  /** The first error; undefined if the chain is intact. */
  broken: BrokenEntry | undefined
}

export interface BrokenEntry {
  position: number | undefined
  audit_id: string | undefined
  reason: string
}

/** Verifies every entry, the heads published earlier, and the heads that the caller has from another source. */
export async function verifyChain(queries: Queries, knownHeads: ChainHead[] = []): Promise<ChainReport> {
  const { rows: publishedHeads } = await sql<ChainHead>`
    select position, encode(hash, 'hex') as hash from audit_heads`.execute(queries)
  const expectedHashes = Map.groupBy([...publishedHeads, ...knownHeads], ({ position }) => position)
  let head: ChainHead = { position: 0, hash: FIRST_PREVIOUS }
  let erasedValues = 0
  const report = (broken?: BrokenEntry): ChainReport => ({
    entries: head.position,
    head: head.position > 0 ? head : undefined,
    erasedValues,
    broken,
  })
  for await (const row of readChain(queries)) {
    const reason = findError(row)
    if (reason) return report({ position: row.position, audit_id: row.chained_id, reason })
    erasedValues += Object.values(row.personal!).filter((value) => value === null).length
    head = { position: row.position, hash: row.hash }
  }
  const lastExpected = Math.max(0, ...expectedHashes.keys())
  if (lastExpected > head.position)
    return report({
      position: head.position + 1,
      audit_id: undefined,
      reason: `the entries up to position ${lastExpected}, whose hash was published, are missing`,
    })
  const outsideId = await findEntryOutsideChain(queries)
  if (outsideId)
    return report({ position: undefined, audit_id: outsideId, reason: 'the entry was removed from the chain' })
  return report()

  function findError(row: ChainRow): string | undefined {
    if (row.position !== head.position + 1)
      return `the entries from position ${head.position + 1} to ${row.position - 1} are missing from the chain`
    if (!row.personal) return 'the entry is missing from the audit log'
    if (hashEntry(row.position, head.hash, row) !== row.hash) return 'the entry or its hash was changed'
    const changedValue = Object.entries(row.personal).find(
      ([name, value]) => value !== null && commitmentOf(value) !== row.commitments[name],
    )
    if (changedValue) return `the value of \`${changedValue[0]}\` was changed`
    const expected = expectedHashes.get(row.position)?.find(({ hash }) => hash !== row.hash)
    if (expected) return `the hash differs from ${expected.hash}, which was published: the chain was rewritten`
    return undefined
  }
}

async function findEntryOutsideChain(queries: Queries): Promise<string | undefined> {
  const { rows } = await sql<{ audit_id: string }>`
    select audit_id from audit_log as e
    where not exists (select from audit_chain as c where c.audit_id = e.audit_id)
      and not exists (select from audit_unchained as u where u.audit_id = e.audit_id)
    order by audit_id limit 1`.execute(queries)
  return rows[0]?.audit_id
}
