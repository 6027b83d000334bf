import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import type { SkillItem } from '../questions/skill-items.ts'
import type { ItemSet } from './item-store.ts'

/**
 * Sets of items, as they were when a mandate was prepared. Mandates that use the same items share a set. A set never changes, so that
 * a conversation continues with the same items and the same verdict when the bank changes.
 */

function itemSetPurpose(orgId: string, setId: string): string {
  return `item set ${orgId} ${setId}`
}

export const sealedItemSets: SealedColumn = {
  table: 'private_item_sets',
  column: 'items',
  id: ['org_id', 'set_id'],
  purpose: itemSetPurpose,
}

/** Returns the ID of a set: a digest of its items. */
export function itemSetId(items: readonly SkillItem[]): string {
  return hash('sha256', JSON.stringify(items), 'base64url').slice(0, 22)
}

/** Stores sets that do not exist yet. */
export async function storeItemSets(
  tx: Tx,
  now: Date,
  sets: (ItemSet & { orgId: string; setId: string })[],
): Promise<void> {
  const byId = new Map(sets.map((set) => [`${set.source === 'bank' ? '' : set.orgId} ${set.setId}`, set]))
  const bankSets = [...byId.values()].filter(({ source }) => source === 'bank')
  const ownSets = [...byId.values()].filter(({ source }) => source !== 'bank')
  if (bankSets.length > 0) {
    const stored = await findStoredSetIds(
      tx,
      bankSets.map(({ setId }) => setId),
    )
    const newSets = bankSets.filter(({ setId }) => !stored.has(setId)).sort((a, b) => (a.setId < b.setId ? -1 : 1))
    if (newSets.length > 0)
      await sql`insert into item_sets (set_id, items, created_at)
        select set_id, items, ${now} from unnest(${newSets.map(({ setId }) => setId)}::text[],
          ${newSets.map(({ items }) => JSON.stringify(items))}::text[]) as n (set_id, items)
        on conflict do nothing`.execute(tx)
  }
  for (const { orgId, setId, items } of ownSets)
    await sql`insert into private_item_sets (org_id, set_id, items, created_at)
      values (${orgId}, ${setId}, ${vaultOf(tx).seal(JSON.stringify(items), itemSetPurpose(orgId, setId))}, ${now})
      on conflict do nothing`.execute(tx)
}

async function findStoredSetIds(tx: Tx, ids: string[]): Promise<Set<string>> {
  const rows = await tx.selectFrom('item_sets').select('set_id').where('set_id', 'in', ids).execute()
  return new Set(rows.map(({ set_id }) => set_id))
}

const MAX_CACHED_SETS = 200
/** Sets of the built-in bank by ID. Their IDs are digests, so a set is the same in every database. */
const cachedSets = new BoundedMap<string, SkillItem[]>(MAX_CACHED_SETS)

/** Returns the items of a set. */
export async function loadItemSet(
  queries: Queries,
  { orgId, setId, source }: { orgId: string; setId: string; source: ItemSet['source'] },
): Promise<SkillItem[]> {
  if (source !== 'bank') return loadOwnItemSet(queries, orgId, setId)
  const cached = cachedSets.get(setId)
  if (cached) return cached
  const row = await queries
    .selectFrom('item_sets')
    .select('items')
    .where('set_id', '=', setId)
    .executeTakeFirstOrThrow()
  const items = JSON.parse(row.items) as SkillItem[]
  cachedSets.set(setId, items)
  return items
}

async function loadOwnItemSet(queries: Queries, orgId: string, setId: string): Promise<SkillItem[]> {
  const row = await queries
    .selectFrom('private_item_sets')
    .select('items')
    .where('org_id', '=', orgId)
    .where('set_id', '=', setId)
    .executeTakeFirstOrThrow()
  return JSON.parse(vaultOf(queries).open(row.items, itemSetPurpose(orgId, setId))) as SkillItem[]
}
