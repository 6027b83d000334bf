import { sql } from 'kysely'
import { isSameSkill, readSkillFamilies } from '../catalogue/skill-families.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Queries } from '../platform/database/database.ts'
import type { Vault } from '../platform/vault.ts'
import type { Bank } from '../questions/bank/bank.ts'
import { type ItemSource, MIN_ACTIVE_ITEMS, type SkillItem } from '../questions/skill-items.ts'

/** Items of one source about a skill. */
export interface ItemSet {
  source: ItemSource
  items: SkillItem[]
}

export type ItemStatus = 'pilot' | 'active' | 'retired'

/**
 * `proven`: able people chose the key more often than others. `unproven`: too few people have answered the item to know. `weak`: able
 * people do not choose the key more often than others.
 */
export const ITEM_QUALITIES = ['proven', 'unproven', 'weak'] as const
export type ItemQuality = (typeof ITEM_QUALITIES)[number]

export function skillItemPurpose(itemId: string): string {
  return `skill item ${itemId}`
}

export const sealedSkillItems: SealedColumn = {
  table: 'skill_items',
  column: 'content',
  id: ['item_id'],
  purpose: skillItemPurpose,
}

/** An item is piloted after this many LIVE responses, if able people choose its key more often than others. */
const MIN_PILOT_RESPONSES = 30

/** Returns what the LIVE responses to an item say about it. */
export function qualityOf(statistics: { responses: number; discrimination: number } | null): ItemQuality {
  if (hasPassedPilot(statistics)) return 'proven'
  return (statistics?.responses ?? 0) < MIN_PILOT_RESPONSES ? 'unproven' : 'weak'
}

/** Returns whether the statistics of an item show that it measures. */
export function hasPassedPilot(statistics: { responses: number; discrimination: number } | null): boolean {
  return statistics !== null && statistics.responses >= MIN_PILOT_RESPONSES && statistics.discrimination > 0
}

interface StoredItemRow {
  item_id: string
  skill_number: number
  source: 'private' | 'ai'
  content: Buffer
  status: ItemStatus
  difficulty: number | null
  statistics: { responses: number; discrimination: number } | null
}

/**
 * Returns the items of an organisation about a skill, except retired ones, grouped by source. Pilot items are marked, and so are scored
 * items that have not been piloted.
 */
export async function listOwnItems(
  queries: Queries,
  vault: Pick<Vault, 'open'>,
  orgId: string,
  skillNumber: number,
): Promise<ItemSet[]> {
  const rows: StoredItemRow[] = await queries
    .selectFrom('skill_items')
    .select(['item_id', 'skill_number', 'source', 'content', 'status', 'difficulty', 'statistics'])
    .where('org_id', '=', orgId)
    .where(isSameSkill('skill_number', [skillNumber]))
    .where('status', '<>', 'retired')
    .orderBy('item_id')
    .$castTo<StoredItemRow>()
    .execute()
  return [...Map.groupBy(rows, ({ source }) => source)].map(([source, sourceRows]) => ({
    source,
    items: withoutNeedlessUnpiloted(
      withoutTextsOfOtherSkills(
        sourceRows.map((row) => ({ skillNumber: row.skill_number, item: openItem(vault, row) })),
      ),
    ),
  }))
}

/** Drops items with the text of an item about another skill: two skills that were merged can both have the same question. */
function withoutTextsOfOtherSkills(rows: { skillNumber: number; item: SkillItem }[]): SkillItem[] {
  const skillByText = new Map<string, number>()
  return rows.flatMap(({ skillNumber, item }) => {
    const text = JSON.stringify(item.calculation ? item.id : Object.entries(item.texts).toSorted()[0])
    const skillOfText = skillByText.get(text) ?? skillNumber
    skillByText.set(text, skillOfText)
    return skillOfText === skillNumber ? [item] : []
  })
}

/** Scores no unpiloted items if the others are enough to measure the skill: they are pilot items then. */
function withoutNeedlessUnpiloted(items: SkillItem[]): SkillItem[] {
  const pilotedCount = items.filter(({ isPilot, isUnpiloted }) => !isPilot && !isUnpiloted).length
  if (pilotedCount < MIN_ACTIVE_ITEMS) return items
  return items.map(({ isUnpiloted, ...item }) => (isUnpiloted ? { ...item, isPilot: true } : item))
}

function openItem(
  vault: Pick<Vault, 'open'>,
  { item_id, content, status, difficulty, statistics }: StoredItemRow,
): SkillItem {
  const item = JSON.parse(vault.open(content, skillItemPurpose(item_id))) as SkillItem
  return {
    ...item,
    id: item_id,
    difficulty: difficulty ?? item.difficulty,
    ...(status === 'pilot' ? { isPilot: true } : hasPassedPilot(statistics) ? {} : { isUnpiloted: true }),
  }
}

/**
 * Returns the items of the built-in bank about a skill and those that were merged into it, except retired ones. Their difficulties are
 * estimated from responses, if any.
 */
export async function listBankItems(queries: Queries, bank: Bank, skillNumber: number): Promise<ItemSet | undefined> {
  const numbers = (await readSkillFamilies(queries, [skillNumber])).numbersOf(skillNumber)
  if (!numbers.some((number) => bank.has(number))) return undefined
  const rows = await queries
    .selectFrom('bank_items')
    .select(['item_id', 'status', 'difficulty'])
    .where('skill_number', 'in', numbers)
    .execute()
  const rowById = new Map(rows.map((row) => [row.item_id, row]))
  const bankItems = numbers.flatMap((number) => bank.itemsOf(number))
  const items = bankItems.flatMap((item) => {
    const row = rowById.get(item.id)
    return row?.status === 'retired' ? [] : [{ ...item, difficulty: row?.difficulty ?? item.difficulty }]
  })
  return { source: 'bank', items }
}

/** Returns whether the items are enough to measure a skill. */
export function isMeasurable({ items }: ItemSet): boolean {
  return items.filter(({ isPilot }) => !isPilot).length >= MIN_ACTIVE_ITEMS
}

/** Returns the numbers of the skills that an organisation can measure with its own items, and of those that were merged into them. */
export async function findOwnMeasurableSkills(queries: Queries, orgId: string): Promise<Set<number>> {
  const rows = await listOwnMeasurableSkills(queries, orgId)
  return new Set(rows.map(({ skill_number }) => skill_number))
}

/** Returns the skills that an organisation, or each organisation, can measure with its own items, and those that were merged into them. */
export async function listOwnMeasurableSkills(
  queries: Queries,
  orgId?: string,
): Promise<{ org_id: string; skill_number: number }[]> {
  const ofOrganisation = orgId === undefined ? sql`true` : sql`org_id = ${orgId}`
  const { rows } = await sql<{ org_id: string; skill_number: number }>`
    with measurable as (
      select org_id, coalesce(survivor_number, i.skill_number) as number
      from skill_items i left join skill_merges m on m.skill_number = i.skill_number
      where ${ofOrganisation} and source = 'private' and status = 'active'
      group by 1, 2 having count(*) >= ${MIN_ACTIVE_ITEMS})
    select org_id, number as skill_number from measurable
    union all
    select org_id, skill_number from measurable join skill_merges on survivor_number = number`.execute(queries)
  return rows
}

/** Returns those of the given skills about which the organisation has items. */
export async function findSkillsWithOwnItems(
  queries: Queries,
  orgId: string,
  skillNumbers: readonly number[],
): Promise<Set<number>> {
  const families = await readSkillFamilies(queries, skillNumbers)
  const rows = await queries
    .selectFrom('skill_items')
    .select('skill_number')
    .distinct()
    .where('org_id', '=', orgId)
    .where(
      'skill_number',
      'in',
      skillNumbers.flatMap((number) => families.numbersOf(number)),
    )
    .execute()
  const withItems = new Set(rows.map(({ skill_number }) => families.survivorOf(skill_number)))
  return new Set(skillNumbers.filter((number) => withItems.has(families.survivorOf(number))))
}

/** Returns the IDs of the retired and deleted items about the given skills, and about those that are the same since a merge. */
export async function findRetiredItems(queries: Queries, skillNumbers: readonly number[]): Promise<Set<string>> {
  const { rows } = await sql<{ item_id: string }>`
    select item_id from bank_items where ${isSameSkill('skill_number', skillNumbers)} and status = 'retired'
    union all
    select item_id from skill_items where ${isSameSkill('skill_number', skillNumbers)} and status = 'retired'
    union all
    select item_id from removed_items where ${isSameSkill('skill_number', skillNumbers)}`.execute(queries)
  return new Set(rows.map(({ item_id }) => item_id))
}
