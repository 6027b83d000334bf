import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import { isSameSkill, readSkillFamilies } from '../catalogue/skill-families.ts'
import { KEY } from '../measurement/form.ts'
import { correctProbability } from '../measurement/model.ts'
import type { Queries } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { loadBank } from '../questions/bank/bank.ts'
import {
  distractorCount,
  type ItemSource,
  MIN_ACTIVE_ITEMS,
  type SkillItem,
  showItem,
} from '../questions/skill-items.ts'
import type { ItemRetirementReason } from './item-status.ts'
import { type ItemStatus, skillItemPurpose } from './item-store.ts'
import type { StoredStatistics } from './statistics.ts'

/** Counts of the items of one source about a skill. */
export interface SkillReport {
  skillNumber: number
  source: ItemSource
  active: number
  pilot: number
  retired: number
  /** Responses that the statistics of the items are based on. */
  responses: number
}

export interface ItemReport {
  itemId: string
  /** The ID in the imported file. */
  externalId: string | null
  skillNumber: number
  source: ItemSource
  kind: string
  status: ItemStatus
  retiredAt: Date | null
  retirementReason: ItemRetirementReason | null
  difficulty: number
  statistics: StoredStatistics | null
  item: SkillItem
}

interface ItemRow {
  item_id: string
  skill_number: number
  status: ItemStatus
  difficulty: number | null
  statistics: StoredStatistics | null
  retired_at: Date | null
  retirement_reason: ItemRetirementReason | null
}

interface OwnItemRow extends ItemRow {
  external_id: string | null
  source: 'private' | 'ai'
  content: Buffer
}

/** Returns the numbers of all skills with items of the built-in bank or of the organisation, in ascending order, without merged skills. */
export async function listSkillsWithItems(queries: Queries, orgId: string): Promise<number[]> {
  const rows = await queries
    .selectFrom('skill_items')
    .select('skill_number')
    .distinct()
    .where('org_id', '=', orgId)
    .execute()
  const families = await readSkillFamilies(queries, 'all')
  const numbers = [...(await loadBank()).skillNumbers, ...rows.map(({ skill_number }) => skill_number)]
  const survivors = new Set(numbers.map((number) => families.survivorOf(number)))
  return [...survivors].sort((first, second) => first - second)
}

/**
 * Counts the items about skills by source: those of the organisation, and those of the built-in bank. Items about merged skills count for
 * the surviving ones.
 */
export async function reportSkills(
  queries: Queries,
  orgId: string,
  skillNumbers: readonly number[],
): Promise<SkillReport[]> {
  const bank = await loadBank()
  const families = await readSkillFamilies(queries, skillNumbers)
  const { rows: ownRows } = await sql<
    Omit<SkillReport, 'skillNumber'> & { skill_number: number }
  >`select coalesce(survivor_number, i.skill_number) as skill_number, source, ${statusCounts}
    from skill_items i left join skill_merges m on m.skill_number = i.skill_number
    where org_id = ${orgId} and ${isSameSkill('i.skill_number', skillNumbers)} group by 1, source`.execute(queries)
  const survivors = [...new Set(skillNumbers.map((number) => families.survivorOf(number)))]
  const bankRows = await listBankRows(queries, skillNumbers)
  const rowsBySkill = Map.groupBy(bankRows, ({ skill_number }) => families.survivorOf(skill_number))
  const bankReports = survivors.flatMap((skillNumber) => {
    const items = families.numbersOf(skillNumber).flatMap((number) => bank.itemsOf(number))
    return items.length === 0 ? [] : [reportBankSkill(items, skillNumber, rowsBySkill.get(skillNumber) ?? [])]
  })
  const ownReports = ownRows.map(({ skill_number, ...counts }) => ({ skillNumber: skill_number, ...counts }))
  return [...ownReports, ...bankReports].sort((first, second) => first.skillNumber - second.skillNumber)
}

const statusCounts = sql`count(*) filter (where status = 'active')::int as active,
  count(*) filter (where status = 'pilot')::int as pilot, count(*) filter (where status = 'retired')::int as retired,
  coalesce(sum((statistics ->> 'responses')::int), 0)::int as responses`

function reportBankSkill(items: readonly SkillItem[], skillNumber: number, rows: ItemRow[]): SkillReport {
  const ids = new Set(items.map(({ id }) => id))
  const currentRows = rows.filter(({ item_id }) => ids.has(item_id))
  const retired = currentRows.filter(({ status }) => status === 'retired').length
  return {
    skillNumber,
    source: 'bank',
    active: ids.size - retired,
    pilot: 0,
    retired,
    responses: currentRows.reduce((sum, { statistics }) => sum + (statistics?.responses ?? 0), 0),
  }
}

/** Returns whether the items of a source are enough to verify the skill. */
export function isEnough({ active }: SkillReport): boolean {
  return active >= MIN_ACTIVE_ITEMS
}

/**
 * Returns the items about a skill and the skills that are the same since a merge: those of the organisation, then those of the built-in bank.
 */
export async function reportItems(queries: Queries, orgId: string, skillNumber: number): Promise<ItemReport[]> {
  const ownRows = await queries
    .selectFrom('skill_items')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(isSameSkill('skill_number', [skillNumber]))
    .orderBy('item_id')
    .$castTo<OwnItemRow>()
    .execute()
  return [...ownRows.map((row) => reportOwnItem(queries, row)), ...(await reportBankItems(queries, skillNumber))]
}

export async function getItemReport(
  queries: Queries,
  orgId: string,
  skillNumber: number,
  itemId: string,
): Promise<ItemReport> {
  const report = (await reportItems(queries, orgId, skillNumber)).find((each) => each.itemId === itemId)
  if (!report) throw problem('NOT_FOUND', `Question ${itemId} not found.`)
  return report
}

/** Returns the items of the built-in bank about a skill and the skills that are the same since a merge. */
export async function reportBankItems(queries: Queries, skillNumber: number): Promise<ItemReport[]> {
  const rows = new Map((await listBankRows(queries, [skillNumber])).map((row) => [row.item_id, row]))
  const families = await readSkillFamilies(queries, [skillNumber])
  const bank = await loadBank()
  return families
    .numbersOf(skillNumber)
    .flatMap((number) => bank.itemsOf(number).map((item) => reportItem(item, number, 'bank', rows.get(item.id))))
}

function reportOwnItem(queries: Queries, row: OwnItemRow): ItemReport {
  const item = JSON.parse(vaultOf(queries).open(row.content, skillItemPurpose(row.item_id))) as SkillItem
  return {
    ...reportItem({ ...item, id: row.item_id }, row.skill_number, row.source, row),
    externalId: row.external_id,
  }
}

function reportItem(item: SkillItem, skillNumber: number, source: ItemSource, row: ItemRow | undefined): ItemReport {
  return {
    itemId: item.id,
    externalId: null,
    skillNumber,
    source,
    kind: item.kind,
    status: row?.status ?? 'active',
    retiredAt: row?.retired_at ?? null,
    retirementReason: row?.retirement_reason ?? null,
    difficulty: row?.difficulty ?? item.difficulty,
    statistics: row?.statistics ?? null,
    item,
  }
}

async function listBankRows(queries: Queries, skillNumbers: readonly number[]): Promise<ItemRow[]> {
  const { rows } = await sql<ItemRow>`
    select item_id, skill_number, status, difficulty, statistics, retired_at, retirement_reason from bank_items
    where ${isSameSkill('skill_number', skillNumbers)}`.execute(queries)
  return rows
}

export interface ShownText {
  language: string
  stem: string
  /** The key, and then the distractors in the order of their numbers. */
  options: string[]
}

/** Returns the stem and the options of an item in each language, as people see them. A calculation shows one example of its numbers. */
export function showTexts(item: SkillItem): ShownText[] {
  const options = [KEY, ...Array.from({ length: distractorCount(item) }, (_, index) => index)]
  return (Object.keys(item.texts) as (keyof typeof item.texts)[]).map((language) => ({
    language,
    ...showItem(item, options, 'example', language),
  }))
}

const CURVE_LIMIT = 3
const CURVE_STEP = 0.25

/** Returns the share of correct responses that the model expects at each ability. */
export function expectedCurve(difficulty: number): { ability: number; correct_share: number }[] {
  return Array.from({ length: (2 * CURVE_LIMIT) / CURVE_STEP + 1 }, (_, index) => {
    const ability = -CURVE_LIMIT + index * CURVE_STEP
    return { ability, correct_share: Math.round(1000 * correctProbability(ability, difficulty)) / 1000 }
  })
}

export interface RetiredItem {
  item_id: string
  skill_number: number
  source: ItemSource
  /** Null for the built-in bank. */
  org_id: string | null
  /** The ID in the imported file. */
  external_id: string | null
  retirement_reason: ItemRetirementReason
  retired_at: Date
}

/** Returns all retired items, most recently retired first. */
export async function listRetiredItems(queries: Queries, limit: number): Promise<RetiredItem[]> {
  const { rows } = await sql<RetiredItem>`
    select item_id, skill_number, 'bank' as source, null as org_id, null as external_id, retirement_reason, retired_at from bank_items
    where status = 'retired'
    union all
    select item_id, skill_number, source, org_id, external_id, retirement_reason, retired_at from skill_items where status = 'retired'
    order by retired_at desc, item_id limit ${limit}`.execute(queries)
  return rows
}
