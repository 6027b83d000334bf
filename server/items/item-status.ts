import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import { isSameSkill, readSkillFamilies } from '../catalogue/skill-families.ts'
import type { Context } from '../context.ts'
import { recordEvents } from '../events/record.ts'
import type { RetirementReason } from '../measurement/item-statistics.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { type ItemSource, MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'
import { listBankItems } from './item-store.ts'

/** Why an item is retired: found in the responses, or decided by a person. */
export const retirementReasons = ['miskeyed', 'leaked', 'not_discriminating', 'manual'] as const
export type ItemRetirementReason = (typeof retirementReasons)[number] & (RetirementReason | 'manual')

/** The owner of an item: an organisation, or none for the built-in bank. */
export interface ItemRef {
  itemId: string
  skillNumber: number
  source: ItemSource
  /** Undefined for the built-in bank. */
  orgId: string | undefined
}

type StatusDeps = Pick<Context, 'clock' | 'log'>

/** Runs in the transaction that retires an item. */
export const itemRetired =
  defineHook<[tx: Tx, item: ItemRef, reason: ItemRetirementReason, clock: Clock]>('itemRetired').handledBy(
    'credentials',
  )

/**
 * Retires an item, and records an event for each mandate that uses it. Returns false if the item is already retired. If too few items
 * remain, the skill cannot be measured any more: an item that measures wrongly is worse than none.
 */
export async function retireItem(
  tx: Tx,
  { clock, log }: StatusDeps,
  item: ItemRef,
  reason: ItemRetirementReason,
): Promise<boolean> {
  const now = new Date(clock.now())
  const { rows } = item.orgId
    ? await sql`update skill_items set status = 'retired', retired_at = ${now}, retirement_reason = ${reason}, updated_at = ${now}
        where item_id = ${item.itemId} and org_id = ${item.orgId} and status <> 'retired' returning item_id`.execute(tx)
    : await sql`insert into bank_items (item_id, skill_number, status, retired_at, retirement_reason, updated_at)
        values (${item.itemId}, ${item.skillNumber}, 'retired', ${now}, ${reason}, ${now})
        on conflict (item_id) do update set status = 'retired', retired_at = excluded.retired_at,
          retirement_reason = excluded.retirement_reason, updated_at = excluded.updated_at
        where bank_items.status <> 'retired' returning item_id`.execute(tx)
  if (rows.length === 0) return false
  const activeItems = await countActiveItems(tx, item)
  const details = { item: item.itemId, skill: skillId(item.skillNumber), source: item.source, reason, activeItems }
  if (activeItems < MIN_ACTIVE_ITEMS)
    log.warn(
      details,
      `question retired; the skill needs ${MIN_ACTIVE_ITEMS} active questions and cannot be verified now`,
    )
  else log.info(details, 'question retired')
  if (activeItems === MIN_ACTIVE_ITEMS - 1) await updateVerifiableSkills(tx, item)
  await recordRetirementEvents(tx, { clock }, item, reason)
  await itemRetired.run(tx, item, reason, clock)
  return true
}

/** Restores a retired item. Its earlier responses do not retire it again. Returns false if it is not retired. */
export async function restoreItem(tx: Tx, { clock, log }: StatusDeps, item: ItemRef): Promise<boolean> {
  const now = new Date(clock.now())
  const table = sql.table(item.orgId ? 'skill_items' : 'bank_items')
  const isOwn = item.orgId ? sql`org_id = ${item.orgId}` : sql`true`
  const { rows } =
    await sql`update ${table} set status = 'active', retired_at = null, retirement_reason = null, updated_at = ${now},
      restored_response_id = (select coalesce(max(response_id), 0) from item_responses where item_id = ${item.itemId})
    where item_id = ${item.itemId} and status = 'retired' and ${isOwn} returning item_id`.execute(tx)
  if (rows.length === 0) return false
  const activeItems = await countActiveItems(tx, item)
  if (activeItems === MIN_ACTIVE_ITEMS) await updateVerifiableSkills(tx, item)
  log.info({ item: item.itemId, skill: skillId(item.skillNumber), activeItems }, 'question restored')
  return true
}

async function countActiveItems(queries: Queries, { skillNumber, source, orgId }: ItemRef): Promise<number> {
  if (orgId) {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from skill_items
      where org_id = ${orgId} and ${isSameSkill('skill_number', [skillNumber])} and source = ${source} and status = 'active'`.execute(
      queries,
    )
    return rows[0]!.count
  }
  return (await listBankItems(queries, await loadBank(), skillNumber))?.items.length ?? 0
}

/** Lets running servers find out which skills the built-in bank can measure now. For items of organisations, a trigger does this. */
async function updateVerifiableSkills(tx: Tx, { orgId }: ItemRef): Promise<void> {
  if (!orgId) await sql`select next_catalogue_version()`.execute(tx)
}

const MANDATES_PER_QUERY = 500

/** Records an event for each prepared mandate that uses the item, in the mode of the mandate. */
async function recordRetirementEvents(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  { itemId, skillNumber, source, orgId }: ItemRef,
  reason: ItemRetirementReason,
): Promise<void> {
  const ids = (await readSkillFamilies(tx, [skillNumber])).numbersOf(skillNumber).map(skillId)
  const ofOrganisation = orgId ? sql`m.org_id = ${orgId}` : sql`true`
  // The items of an organisation are sealed: all its mandates that verify the skill with them are assumed to use the item.
  const usesItem =
    source === 'bank'
      ? sql`exists (select from item_sets s where s.set_id = skill ->> 'set_id' and position(${`"${itemId}"`} in s.items) > 0)`
      : sql`true`
  let after = ''
  for (;;) {
    const { rows } = await sql<{ org_id: string; mode: 'test' | 'live'; mandate_id: string; skill_id: string }>`
      select m.org_id, m.mode, m.mandate_id, used.skill_id
      from mandates m join mandate_flows f on f.mandate_id = m.mandate_id and f.flow_version = m.flow_version
        cross join lateral (
          select skill ->> 'skill_id' as skill_id from jsonb_array_elements(f.flow::jsonb -> 'skills') as skill
          where skill ->> 'skill_id' = any (${ids}::text[]) and skill ->> 'source' = ${source} and ${usesItem} limit 1) as used
      where m.status = 'ready' and m.mandate_id > ${after} and ${ofOrganisation}
        and exists (select from unnest(${ids}::text[]) as id where position('"' || id || '"' in f.flow) > 0)
      order by m.mandate_id limit ${MANDATES_PER_QUERY}`.execute(tx)
    for (const mandates of Map.groupBy(rows, ({ org_id, mode }) => `${org_id} ${mode}`).values()) {
      const { org_id, mode } = mandates[0]!
      const data = mandates.map(({ mandate_id, skill_id }) => ({ mandate_id, skill_id, item_id: itemId, reason }))
      await recordEvents(tx, { orgId: org_id, mode }, clock, 'mandate.question_retired', data)
    }
    if (rows.length < MANDATES_PER_QUERY) return
    after = rows.at(-1)!.mandate_id
  }
}

/** Returns an item of the built-in bank, or of the organisation. */
export async function getItemRef(queries: Queries, orgId: string | undefined, itemId: string): Promise<ItemRef> {
  const item = await findItemRef(queries, orgId, itemId)
  if (!item) throw problem('NOT_FOUND', `Question ${itemId} not found.`)
  return item
}

async function findItemRef(queries: Queries, orgId: string | undefined, itemId: string): Promise<ItemRef | undefined> {
  const bankSkill = Number(/^([1-9][0-9]{0,8})\./.exec(itemId)?.[1])
  if (bankSkill) {
    const isInBank = (await loadBank()).itemsOf(bankSkill).some(({ id }) => id === itemId)
    return isInBank ? { itemId, skillNumber: bankSkill, source: 'bank', orgId: undefined } : undefined
  }
  const row = await queries
    .selectFrom('skill_items')
    .select(['skill_number', 'source', 'org_id'])
    .where('item_id', '=', itemId)
    .$if(orgId !== undefined, (query) => query.where('org_id', '=', orgId!))
    .executeTakeFirst()
  return row && { itemId, skillNumber: row.skill_number, source: row.source as ItemSource, orgId: row.org_id }
}
