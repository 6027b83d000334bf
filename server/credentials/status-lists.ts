import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Context } from '../context.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { baseUrl, didOf, openSigningKey, type UrlConfig } from './issuers/issuers.ts'
import { signAsJwt, signCredential } from './proof/sign.ts'
import { buildStatusListCredential, createStatusList, MIN_STATUS_LIST_SIZE, setStatus } from './proof/status-list.ts'

/** Half of a list at most is used: a random free index is then found quickly, and its neighbours say nothing about it. */
const MAX_ENTRIES_PER_LIST = MIN_STATUS_LIST_SIZE / 2

/** The entry of a credential in a status list. */
export interface StatusEntry {
  listId: string
  index: number
}

export function statusListUrl(config: UrlConfig, listId: string): string {
  return `${baseUrl(config)}/credentials/status/${listId}`
}

export function isStatusListId(text: string): boolean {
  return /^SL_[0-9A-Z]{26}$/.test(text)
}

/**
 * Returns a random free entry of a status list. The list is not locked, so that credentials are signed concurrently: in the unlikely
 * case that two transactions choose the same entry, the second one fails and is tried again.
 */
export async function chooseStatusEntry(tx: Tx, clock: Clock, { orgId, mode }: OrgScope): Promise<StatusEntry> {
  const { rows } = await sql<{ list_id: string }>`
    select list_id from credential_status_lists
    where org_id = ${orgId} and mode = ${mode} and entries < ${MAX_ENTRIES_PER_LIST}
    order by created_at, list_id limit 1`.execute(tx)
  const listId = rows[0]?.list_id ?? (await insertList(tx, clock, { orgId, mode }))
  for (;;) {
    const index = randomInt(MIN_STATUS_LIST_SIZE)
    const { rows: usedRows } = await sql`
      select 1 from credentials where list_id = ${listId} and status_index = ${index}`.execute(tx)
    if (usedRows.length === 0) return { listId, index }
  }
}

/** Counts the entries that a transaction has used. */
export async function countStatusEntries(tx: Tx, entries: StatusEntry[]): Promise<void> {
  const entriesByList = Map.groupBy(entries, ({ listId }) => listId)
  for (const listId of [...entriesByList.keys()].sort())
    await sql`update credential_status_lists set entries = entries + ${entriesByList.get(listId)!.length}
      where list_id = ${listId}`.execute(tx)
}

async function insertList(tx: Tx, clock: Clock, { orgId, mode }: OrgScope): Promise<string> {
  const now = clock.now()
  const listId = newId('SL_', now)
  await sql`insert into credential_status_lists (list_id, org_id, mode, created_at)
    values (${listId}, ${orgId}, ${mode}, ${new Date(now)})`.execute(tx)
  return listId
}

/** Makes the next request for these lists sign them again. */
export async function changeStatusLists(tx: Tx, listIds: string[]): Promise<void> {
  // In the order of their IDs, so that two transactions do not wait for each other.
  for (const listId of [...new Set(listIds)].sort())
    await sql`update credential_status_lists set version = version + 1 where list_id = ${listId}`.execute(tx)
}

/** Makes the next request for each list of an issuer sign it again, because the key has changed. */
export async function changeStatusListsOf(tx: Tx, { orgId, mode }: OrgScope): Promise<void> {
  const { rows } = await sql<{ list_id: string }>`
    select list_id from credential_status_lists where org_id = ${orgId} and mode = ${mode}`.execute(tx)
  await changeStatusLists(
    tx,
    rows.map(({ list_id }) => list_id),
  )
}

/** A signed status list. */
export interface SignedStatusList {
  version: number
  /** The credential with a Data Integrity proof, as JSON. */
  credential: string
  jwt: string
}

interface ListRow {
  org_id: string
  mode: 'test' | 'live'
  version: number
  signed_version: number | null
  signed_credential: string | null
  signed_jwt: string | null
  created_at: Date
}

/** Returns a status list, and signs it first if it has changed. The database is read for each request, so that it is never outdated. */
export async function findStatusList(
  { db, clock, config }: Pick<Context, 'db' | 'clock'> & { config: UrlConfig },
  listId: string,
): Promise<SignedStatusList | undefined> {
  const row = await findListRow(db.queries, listId)
  if (!row) return undefined
  return signedListOf(row) ?? db.transaction((tx) => signList(tx, { clock, config }, listId))
}

async function findListRow(queries: Queries, listId: string, { lock = false } = {}): Promise<ListRow | undefined> {
  const { rows } = await sql<ListRow>`
    select org_id, mode, version, signed_version, signed_credential, signed_jwt, created_at from credential_status_lists
    where list_id = ${listId} ${lock ? sql`for no key update` : sql``}`.execute(queries)
  return rows[0]
}

function signedListOf({ version, signed_version, signed_credential, signed_jwt }: ListRow) {
  if (version !== signed_version) return undefined
  return { version, credential: signed_credential!, jwt: signed_jwt! }
}

/** Signs a list. The bits are those of the revoked credentials, so that a list cannot differ from them. */
async function signList(
  tx: Tx,
  { clock, config }: { clock: Clock; config: UrlConfig },
  listId: string,
): Promise<SignedStatusList> {
  const row = (await findListRow(tx, listId, { lock: true }))!
  // Another request may have signed it while this one waited for the lock.
  const signedList = signedListOf(row)
  if (signedList) return signedList
  const scope = { orgId: row.org_id, mode: row.mode }
  const bits = createStatusList()
  const { rows } = await sql<{ status_index: number }>`
    select status_index from credentials where list_id = ${listId} and revoked_at is not null`.execute(tx)
  for (const { status_index } of rows) setStatus(bits, status_index)
  const now = new Date(clock.now())
  const unsigned = buildStatusListCredential({
    id: statusListUrl(config, listId),
    did: didOf(config, scope),
    bits,
    // Not the time of the signature: a verifier whose clock is a little slow would reject the list.
    validFrom: row.created_at,
  })
  const key = await openSigningKey(tx, config, clock, scope)
  const credential = JSON.stringify(await signCredential(unsigned, key, now))
  const jwt = await signAsJwt(unsigned, key)
  await sql`update credential_status_lists
    set signed_version = version, signed_credential = ${credential}, signed_jwt = ${jwt} where list_id = ${listId}`.execute(
    tx,
  )
  return { version: row.version, credential, jwt }
}
