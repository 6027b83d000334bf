import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import { isSameSkill, readSkillFamilies } from '../catalogue/skill-families.ts'
import { type AuthorDifficulty, PRIOR_DIFFICULTIES } from '../measurement/model.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import type { Vault } from '../platform/vault.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { MIN_ACTIVE_ITEMS, type SkillItem } from '../questions/skill-items.ts'
import { type ExportedItem, writeCsvItems } from './exchange/csv-items.ts'
import { writeQtiPackage } from './exchange/qti-export.ts'
import { findOwnMeasurableSkills, type ItemStatus, skillItemPurpose } from './item-store.ts'
import type { StoredStatistics } from './statistics.ts'

/** An item of an organisation without its text. */
export interface ListedItem {
  item_id: string
  skill_number: number
  skill_name: string
  source: 'private' | 'ai'
  external_id: string | null
  status: ItemStatus
  difficulty: number | null
  statistics: StoredStatistics | null
  retirement_reason: string | null
  content: Buffer
  created_at: Date
  updated_at: Date
}

export interface ItemFilter {
  skillNumber?: number | undefined
  status?: ItemStatus | undefined
  after?: string | undefined
  limit: number
}

/** Returns the items of an organisation, in the order of their IDs. Both modes share them. */
export async function listItems(
  queries: Queries,
  orgId: string,
  { skillNumber, status, after, limit }: ItemFilter,
): Promise<ListedItem[]> {
  const { rows } = await sql<ListedItem>`
    select item_id, skill_number, coalesce(name, '') as skill_name, source, external_id, status, difficulty, statistics,
      retirement_reason, content, skill_items.created_at, skill_items.updated_at
    from skill_items left join skills on skills.number = skill_number
    where org_id = ${orgId} and item_id > ${after ?? ''}
      and ${skillNumber === undefined ? sql`true` : isSameSkill('skill_number', [skillNumber])}
      and (${status ?? null}::text is null or status = ${status ?? null}::text)
    order by item_id limit ${limit}`.execute(queries)
  return rows
}

/** Returns an item as the API shows it: without its text, and without which option is the key. */
export function itemRecord(vault: Pick<Vault, 'open'>, row: ListedItem) {
  const item = openContent(vault, row)
  const { statistics } = row
  return {
    item_id: row.item_id,
    external_id: row.external_id,
    skill_id: skillId(row.skill_number),
    skill_name: row.skill_name,
    source: row.source,
    kind: item.kind,
    languages: languagesOfItem(item),
    status: row.status,
    retirement_reason: row.retirement_reason,
    difficulty: row.difficulty ?? item.difficulty,
    responses: statistics?.responses ?? 0,
    proportion_correct: statistics?.correct_share ?? null,
    discrimination: statistics?.discrimination ?? null,
    median_seconds: statistics?.median_seconds ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

function openContent(
  vault: Pick<Vault, 'open'>,
  { item_id, content }: { item_id: string; content: Buffer },
): SkillItem {
  return JSON.parse(vault.open(content, skillItemPurpose(item_id))) as SkillItem
}

export function languagesOfItem({ texts }: SkillItem): Language[] {
  return LANGUAGES.filter((language) => texts[language])
}

interface ItemSkillRow {
  number: number
  name: string
  active: number
  pilot: number
  retired: number
  /** Number of active items that were imported. */
  private_active: number
}

/** Returns the number of items of each skill of an organisation. */
export async function listItemSkills(queries: Queries, orgId: string) {
  const { rows } = await sql<ItemSkillRow>`
    select coalesce(survivor_number, i.skill_number) as number, coalesce(min(name), '') as name, count(*) filter (where status = 'active')::integer as active,
      count(*) filter (where status = 'pilot')::integer as pilot, count(*) filter (where status = 'retired')::integer as retired,
      count(*) filter (where status = 'active' and source = 'private')::integer as private_active
    from skill_items i left join skill_merges m on m.skill_number = i.skill_number
      left join skills on skills.number = coalesce(survivor_number, i.skill_number)
    where org_id = ${orgId} group by 1 order by 1`.execute(queries)
  return rows.map(({ number, private_active, ...row }) => ({
    skill_id: skillId(number),
    ...row,
    measurable: private_active >= MIN_ACTIVE_ITEMS,
  }))
}

/**
 * Deletes an item. Mandates that were prepared with it do not ask it any more; candidates who were already asked it are not affected.
 */
export async function deleteItem(tx: Tx, clock: Clock, orgId: string, itemId: string): Promise<ListedItem> {
  const { rows } = await sql<ListedItem>`
    delete from skill_items where org_id = ${orgId} and item_id = ${itemId}
    returning item_id, skill_number, coalesce((select name from skills where number = skill_number), '') as skill_name, source,
      external_id, status, difficulty, statistics, retirement_reason, content, created_at, updated_at`.execute(tx)
  const [row] = rows
  if (!row) throw problem('NOT_FOUND', `Item ${itemId} not found.`)
  await tx
    .insertInto('removed_items')
    .values({
      item_id: itemId,
      org_id: orgId,
      skill_number: row.skill_number,
      removed_at: new Date(clock.now()),
    })
    .execute()
  return row
}

export const EXPORT_FORMATS = ['csv', 'qti'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Returns the imported items of an organisation with their texts and keys as a file, except retired ones. */
export async function exportItems(
  queries: Queries,
  vault: Pick<Vault, 'open'>,
  orgId: string,
  { format, skillNumber }: { format: ExportFormat; skillNumber?: number | undefined },
): Promise<{ fileName: string; mediaType: string; content: Buffer; items: number }> {
  const { rows } = await sql<ListedItem>`
    select item_id, skill_number, coalesce(name, '') as skill_name, external_id, content
    from skill_items left join skills on skills.number = skill_number
    where org_id = ${orgId} and source = 'private' and status <> 'retired'
      and ${skillNumber === undefined ? sql`true` : isSameSkill('skill_number', [skillNumber])}
    order by skill_number, item_id`.execute(queries)
  const items = rows.map((row): ExportedItem => {
    const { kind, difficulty, texts } = openContent(vault, row)
    return {
      itemId: row.item_id,
      externalId: row.external_id ?? undefined,
      skillId: skillId(row.skill_number),
      skillName: row.skill_name,
      kind,
      difficulty: authorDifficulty(difficulty),
      texts,
    }
  })
  return format === 'csv'
    ? {
        fileName: 'items.csv',
        mediaType: 'text/csv; charset=utf-8',
        content: writeCsvItems(items),
        items: items.length,
      }
    : { fileName: 'items.zip', mediaType: 'application/zip', content: writeQtiPackage(items), items: items.length }
}

/** Returns the author's difficulty of an item, from 1 (easy) to 3. */
export function authorDifficulty(difficulty: number): AuthorDifficulty {
  const closest = Object.entries(PRIOR_DIFFICULTIES).toSorted(
    ([, first], [, second]) => Math.abs(first - difficulty) - Math.abs(second - difficulty),
  )[0]!
  return Number(closest[0]) as AuthorDifficulty
}

/**
 * Returns those of the given skills that are asked with items of the built-in bank, because the organisation has too few of its own.
 * Anyone can read the questions and answers of the built-in bank.
 */
export async function findSkillsOnPublicBank(
  queries: Queries,
  orgId: string,
  skillNumbers: number[],
): Promise<number[]> {
  const own = await findOwnMeasurableSkills(queries, orgId)
  const bank = await loadBank()
  const families = await readSkillFamilies(queries, skillNumbers)
  return skillNumbers.filter((number) => !own.has(number) && families.numbersOf(number).some((same) => bank.has(same)))
}
