import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { findRetirementReason } from '../measurement/item-statistics.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import { loadBank } from '../questions/bank/bank.ts'
import type { ItemSource, SkillItem } from '../questions/skill-items.ts'
import { type ItemRef, retireItem } from './item-status.ts'
import { hasPassedPilot, skillItemPurpose } from './item-store.ts'
import { computeStatistics, loadResponses, type StoredStatistics } from './statistics.ts'

export const updateItemStatisticsJob = defineJob<Record<string, never>>('update-item-statistics', {
  timeoutSeconds: 3000,
  concurrency: 1,
})

type StatisticsDeps = Pick<Context, 'db' | 'clock' | 'log'>

const ITEMS_PER_QUERY = 500

/**
 * Updates the statistics of all items with new LIVE responses, activates pilot items, and retires items that measure wrongly. Each
 * item has its own transaction, which also records the events. If the process is killed, the next run starts again and changes nothing
 * twice. Responses in TEST do not count, because test numbers give scripted answers.
 *
 * Responses are numbered when they are inserted, and can become visible in another order: a transaction with lower numbers can commit
 * later. Therefore each run starts at the last response of the run before the previous one. No transaction takes as long as the time
 * between two runs, so no response is missed.
 */
export async function updateItemStatistics(deps: StatisticsDeps, signal?: AbortSignal): Promise<void> {
  const { db, clock } = deps
  const progress = await readProgress(db.queries)
  const { rows } = await sql<{ newest: number }>`
    select coalesce(max(response_id), 0) as newest from item_responses where response_id > ${progress.earlier_response_id}`.execute(
    db.queries,
  )
  const newest = rows[0]!.newest
  let after = ''
  for (;;) {
    const items = await listItemsWithResponses(db.queries, progress.earlier_response_id, after)
    for (const item of items) {
      signal?.throwIfAborted()
      await db.transaction((tx) => updateItem(tx, deps, item))
    }
    if (items.length < ITEMS_PER_QUERY) break
    after = items.at(-1)!.itemId
  }
  await sql`update item_statistics_progress
    set earlier_response_id = last_response_id, last_response_id = greatest(last_response_id, ${newest}),
      finished_at = ${new Date(clock.now())}`.execute(db.queries)
}

async function readProgress(queries: Queries) {
  return queries.selectFrom('item_statistics_progress').select('earlier_response_id').executeTakeFirstOrThrow()
}

async function listItemsWithResponses(queries: Queries, from: number, after: string): Promise<ItemRef[]> {
  const { rows } = await sql<{ item_id: string; skill_number: number; source: ItemSource; org_id: string }>`
    select distinct on (item_id) item_id, skill_number, source, org_id from item_responses
    where response_id > ${from} and mode = 'live' and item_id > ${after}
    order by item_id limit ${ITEMS_PER_QUERY}`.execute(queries)
  return rows.map(({ item_id, skill_number, source, org_id }) => ({
    itemId: item_id,
    // Mandates can ask the items of a merged skill about the surviving one. The ID of a built-in item names its own skill.
    skillNumber: source === 'bank' ? Number.parseInt(item_id, 10) : skill_number,
    source,
    orgId: source === 'bank' ? undefined : org_id,
  }))
}

interface ItemRow {
  skillNumber: number
  status: 'pilot' | 'active' | 'retired'
  authorDifficulty: number
  restoredResponseId: number
}

async function updateItem(tx: Tx, deps: StatisticsDeps, respondedItem: ItemRef): Promise<void> {
  const row = respondedItem.orgId
    ? await lockOwnItem(tx, respondedItem.itemId)
    : await lockBankItem(tx, deps, respondedItem)
  if (!row) return // deleted
  const item = { ...respondedItem, skillNumber: row.skillNumber }
  const responses = await loadResponses(tx, item.itemId)
  const statistics = computeStatistics(responses, row.authorDifficulty)
  const difficulty = statistics.estimated_difficulty - (await difficultyShift(tx, item))
  await storeStatistics(tx, deps, item, statistics, difficulty)
  if (row.status === 'retired') return
  const countingResponses = responses.filter(({ responseId }) => responseId > row.restoredResponseId)
  const reason = findRetirementReason(countingResponses, row.authorDifficulty)
  if (reason) await retireItem(tx, deps, item, reason)
  else if (row.status === 'pilot' && hasPassedPilot(statistics))
    await sql`update skill_items set status = 'active' where item_id = ${item.itemId}`.execute(tx)
}

async function lockOwnItem(tx: Tx, itemId: string): Promise<ItemRow | undefined> {
  const row = await tx
    .selectFrom('skill_items')
    .select(['skill_number', 'status', 'content', 'restored_response_id'])
    .where('item_id', '=', itemId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return undefined
  const { difficulty } = JSON.parse(vaultOf(tx).open(row.content, skillItemPurpose(itemId))) as SkillItem
  return {
    skillNumber: row.skill_number,
    status: row.status as ItemRow['status'],
    authorDifficulty: difficulty,
    restoredResponseId: row.restored_response_id ?? 0,
  }
}

async function lockBankItem(
  tx: Tx,
  { clock }: StatisticsDeps,
  { itemId, skillNumber }: ItemRef,
): Promise<ItemRow | undefined> {
  const bankItem = (await loadBank()).itemsOf(skillNumber).find(({ id }) => id === itemId)
  // Mandates that were prepared with an earlier version of the bank ask items that it no longer has.
  if (!bankItem) return undefined
  await sql`insert into bank_items (item_id, skill_number, updated_at)
    values (${itemId}, ${skillNumber}, ${new Date(clock.now())}) on conflict do nothing`.execute(tx)
  const row = await tx
    .selectFrom('bank_items')
    .select(['status', 'restored_response_id'])
    .where('item_id', '=', itemId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  return {
    skillNumber,
    status: row.status as ItemRow['status'],
    authorDifficulty: bankItem.difficulty,
    restoredResponseId: row.restored_response_id ?? 0,
  }
}

const MIN_RESPONSES_OF_ANCHOR = 100
const MIN_ANCHORS = 6

/**
 * Returns the mean difference between the estimated and the authors' difficulties of a skill. It is subtracted from the estimates, so
 * that an ability of 0 is still that of a person who can just do the work, in the judgement of the authors. Without it, an ability of 0
 * would become that of the average applicant.
 */
async function difficultyShift(tx: Tx, { skillNumber, source, orgId }: ItemRef): Promise<number> {
  const siblings = orgId
    ? sql`skill_items where org_id = ${orgId} and source = ${source} and skill_number = ${skillNumber}`
    : sql`bank_items where skill_number = ${skillNumber}`
  const { rows } = await sql<{ count: number; shift: number | null }>`
    select count(*)::int as count,
      avg((statistics ->> 'estimated_difficulty')::float - (statistics ->> 'author_difficulty')::float) as shift
    from ${siblings} and status = 'active' and (statistics ->> 'responses')::int >= ${MIN_RESPONSES_OF_ANCHOR}`.execute(
    tx,
  )
  const { count, shift } = rows[0]!
  return count >= MIN_ANCHORS ? shift! : 0
}

async function storeStatistics(
  tx: Tx,
  { clock }: StatisticsDeps,
  { itemId, orgId }: ItemRef,
  statistics: StoredStatistics,
  difficulty: number,
): Promise<void> {
  const table = sql.table(orgId ? 'skill_items' : 'bank_items')
  await sql`update ${table} set statistics = ${JSON.stringify(statistics)}::jsonb, difficulty = ${difficulty},
    updated_at = ${new Date(clock.now())} where item_id = ${itemId}`.execute(tx)
}
