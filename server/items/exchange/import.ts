import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { sql } from 'kysely'
import { skillId, skillNumber } from '../../catalogue/ids.ts'
import { nameKey, normaliseText } from '../../catalogue/names.ts'
import { readSkills } from '../../catalogue/snapshot.ts'
import { type AuthorDifficulty, PRIOR_DIFFICULTIES } from '../../measurement/model.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { unstorableReason } from '../../platform/http/json.ts'
import { newId } from '../../platform/ids.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import type { Vault } from '../../platform/vault.ts'
import { isZip } from '../../platform/zip.ts'
import { isSameQuestion, itemWords } from '../../questions/near-duplicates.ts'
import { type ItemText, MIN_ACTIVE_ITEMS, type SkillItem } from '../../questions/skill-items.ts'
import { type ItemStatus, skillItemPurpose } from '../item-store.ts'
import { readCsvItems } from './csv-items.ts'
import { checkDraft } from './item-checks.ts'
import { Findings, type ItemDraft } from './item-draft.ts'
import { readQtiFile, readQtiPackage } from './qti-items.ts'

/** Limits the pairs of items that are compared for duplicates. */
const MAX_ITEMS_PER_SKILL = 500
/** Number of items that are checked before other requests get their turn. */
const ITEMS_PER_SLICE = 20
const MAX_WARNINGS = 1000

export interface ItemFile {
  name: string
  bytes: Buffer
  /** ID or name of the skill of items that name none. */
  skill?: string | undefined
}

/** A checked item with its skill. */
interface CheckedItem {
  draft: ItemDraft
  skillNumber: number
  contentKey: string
}

export interface CheckedFile {
  items: CheckedItem[]
  skillNames: Map<number, string>
  findings: Findings
}

/**
 * Reads and checks a file in any of the formats. Throws one problem that lists the errors of all items. Call it outside of transactions:
 * a large file takes long.
 */
export async function readItemFile(queries: Queries, { name, bytes, skill }: ItemFile): Promise<CheckedFile> {
  const findings = new Findings()
  return checkDrafts(queries, await readDrafts(bytes, name, skill, findings), skill, findings)
}

/** A question that was typed into a form. */
export interface TypedItem {
  /** The ID of the item that it replaces. */
  itemId: string | undefined
  skillId: string
  kind: string
  difficulty: AuthorDifficulty
  texts: { language: Language; stem: string; options: string[] }[]
}

/** Checks a typed question like an item of a file. Errors name its properties, such as `texts[0].stem`. */
export function checkTypedItem(queries: Queries, { itemId, skillId: skill, texts, ...item }: TypedItem) {
  const indexOf = (language: Language) => texts.findIndex((text) => text.language === language)
  const draft: ItemDraft = {
    ...item,
    path: 'texts',
    skill,
    externalId: itemId,
    texts: Object.fromEntries(
      texts.map(({ language, stem, options }) => [
        language,
        { stem: normaliseText(stem), options: options.map(normaliseText) },
      ]),
    ),
    errors: [],
    locate: (language, part) => `texts[${indexOf(language)}].${part === 'stem' ? 'stem' : `options[${part}]`}`,
    locateField: (field) => (field === 'skill' ? 'skill_id' : field),
  }
  return checkDrafts(queries, [draft], undefined, new Findings('question'))
}

async function checkDrafts(
  queries: Queries,
  drafts: ItemDraft[],
  skill: string | undefined,
  findings: Findings,
): Promise<CheckedFile> {
  const skills = await findSkills(
    queries,
    drafts.map((draft) => draft.skill ?? skill),
  )
  if (skill !== undefined && !skills.find(skill) && drafts.some((draft) => draft.skill === undefined))
    findings.error('skill_id', unknownSkillMessage(skill))
  const pathById = new Map<string, string>()
  const pathByContent = new Map<string, string>()
  const items: CheckedItem[] = []
  for (const [index, draft] of drafts.entries()) {
    if (index % ITEMS_PER_SLICE === 0) await yieldToEventLoop()
    for (const { path, message } of draft.errors) findings.error(path, message)
    checkDraft(draft, findings)
    findRepeatedId(draft, pathById, findings)
    const found = skills.find(draft.skill ?? skill)
    if (found) {
      const item = { draft, skillNumber: found.number, contentKey: contentKeyOf(found.number, draft.texts) }
      items.push(item)
      findRepeatedText(item, pathByContent, findings)
    } else if (draft.skill !== undefined) findings.error(draft.locateField('skill'), unknownSkillMessage(draft.skill))
  }
  findings.throwIfInvalid()
  return { items, skillNames: skills.names, findings }
}

function unknownSkillMessage(skill: string): string {
  // A name is not repeated: in the wrong column, it would be the text of a question.
  const id = skillNumber(skill) === undefined ? '' : ` ${skill}`
  return `unknown skill${id}; write an ID such as sk_1001, or the exact name of a skill of the catalogue`
}

async function readDrafts(
  bytes: Buffer,
  name: string,
  skill: string | undefined,
  findings: Findings,
): Promise<ItemDraft[]> {
  if (isZip(bytes)) return readQtiPackage(bytes, name, skill, findings)
  const start = bytes.subarray(0, 200).toString('latin1')
  if (/^(?:ï»¿)?\s*</.test(start)) return readQtiFile(bytes, name, skill, findings)
  if (bytes.subarray(0, 4096).includes(0)) {
    findings.error(
      name,
      'the file is not a text file in UTF-8; save it as CSV in UTF-8, or import QTI 3.0 (XML or ZIP)',
    )
    return []
  }
  return readCsvItems(bytes, name, skill, findings)
}

/** Finds skills by their IDs and names. */
async function findSkills(queries: Queries, skillTexts: (string | undefined)[]) {
  const texts = [...new Set(skillTexts.filter((text) => text !== undefined))]
  const numbers = texts.map(skillNumber).filter((number) => number !== undefined)
  const names = texts.filter((text) => skillNumber(text) === undefined && unstorableReason(text) === undefined)
  // Whether the skills can be measured does not matter here.
  const rows = texts.length === 0 ? [] : await readSkills(queries, numbers, names, () => false)
  const byNumber = new Map(rows.map((row) => [row.number, row]))
  const byName = new Map(rows.map((row) => [nameKey(row.name), row]))
  return {
    names: new Map(rows.map(({ number, name }) => [number, name])),
    find(text: string | undefined) {
      if (text === undefined) return undefined
      const number = skillNumber(text)
      return number === undefined ? byName.get(nameKey(text)) : byNumber.get(number)
    },
  }
}

function findRepeatedId(draft: ItemDraft, pathById: Map<string, string>, findings: Findings): void {
  const { externalId, path } = draft
  if (externalId === undefined) return
  const firstPath = pathById.get(externalId)
  if (firstPath) findings.error(draft.locateField('id'), `the ID is also used by ${firstPath}; each item needs its own`)
  else pathById.set(externalId, path)
}

function findRepeatedText(
  { draft, contentKey }: CheckedItem,
  pathByContent: Map<string, string>,
  findings: Findings,
): void {
  if (Object.keys(draft.texts).length === 0) return
  const firstPath = pathByContent.get(contentKey)
  if (firstPath) findings.error(draft.path, sameTextMessage(firstPath))
  else pathByContent.set(contentKey, draft.path)
}

function sameTextMessage(owner: string): string {
  return `the text is the same as that of ${owner}; remove one of them`
}

/** Returns a text that is equal for two items of a skill if their texts are equal in all languages. */
function contentKeyOf(skill: number, texts: SkillItem['texts']): string {
  const sorted = LANGUAGES.flatMap((language) => {
    const text = texts[language]
    return text ? [[language, text.stem, ...text.options]] : []
  })
  return JSON.stringify([skill, sorted])
}

interface StoredRow {
  item_id: string
  skill_number: number
  external_id: string | null
  content: Buffer
  status: ItemStatus
}

interface StoredItem {
  row: StoredRow
  item: SkillItem
  contentKey: string
}

type Change = 'added' | 'replaced' | 'updated' | 'unchanged'

/** The effect of an import on an item of the file. */
interface PlannedItem extends CheckedItem {
  change: Change
  stored: StoredItem | undefined
}

export interface ImportSummary {
  items: number
  added: number
  /** Items whose text changed: they have a new item ID and no statistics yet. */
  replaced: number
  /** Items whose skill, kind, difficulty, ID or languages changed, but not the text. */
  updated: number
  unchanged: number
  /** Added and replaced items that are asked without being scored until their statistics are known. */
  pilot: number
  skills: { skill_id: string; name: string; active: number; pilot: number; measurable: boolean }[]
  warnings: { path: string; message: string }[]
}

interface ImportDeps {
  vault: Vault
  clock: Clock
}

/** Stores the items of a file for an organisation: all of them or none. With `dryRun`, only returns what would change. */
export async function importItems(
  tx: Tx,
  deps: ImportDeps,
  orgId: string,
  file: CheckedFile,
  options: { dryRun: boolean },
): Promise<ImportSummary> {
  return (await storeItems(tx, deps, orgId, file, options)).summary
}

/** Stores a typed question, and returns its item ID, which is new if its text has changed. */
/** Makes other changes of the organisation's questions wait until the transaction ends. */
export async function lockOwnItems(tx: Tx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`skill items of ${orgId}`}, 0))`.execute(tx)
}

export async function storeTypedItem(
  tx: Tx,
  deps: ImportDeps,
  orgId: string,
  checked: CheckedFile,
): Promise<{ itemId: string; warnings: ImportSummary['warnings'] }> {
  const { summary, itemIds } = await storeItems(tx, deps, orgId, checked, { dryRun: false })
  return { itemId: itemIds[0]!, warnings: summary.warnings }
}

async function storeItems(
  tx: Tx,
  { vault, clock }: ImportDeps,
  orgId: string,
  file: CheckedFile,
  { dryRun }: { dryRun: boolean },
): Promise<{ summary: ImportSummary; itemIds: string[] }> {
  await lockOwnItems(tx, orgId)
  const findings = new Findings(file.findings.noun)
  findings.warnings.push(...file.findings.warnings)
  const stored = await listStoredItems(tx, vault, orgId, file.items)
  const planned = planItems(file.items, stored)
  const matched = new Set(planned.map((plan) => plan.stored))
  const kept = stored.filter((each) => !matched.has(each))
  findCrowdedSkills(planned, kept, file.skillNames, findings)
  findings.throwIfInvalid() // comparing the items of a skill with each other takes long if there are many
  findConflicts(planned, kept, findings)
  await findNearDuplicates(planned, kept, findings)
  const rows = createRows(planned, kept, vault, orgId, clock.now())
  const unchanged = planned.filter(({ change }) => change === 'unchanged').map((plan) => plan.stored!)
  const skills = countBySkill([...kept, ...unchanged, ...rows], file.skillNames)
  for (const { change, stored: old, draft } of planned)
    if (change !== 'replaced' && old?.row.status === 'retired')
      findings.warn(draft.path, 'the item is retired and stays retired; change its text, or restore it')
  findings.throwIfInvalid()
  if (!dryRun) await writeRows(tx, planned, rows, new Date(clock.now()))
  const count = (change: Change) => planned.filter((plan) => plan.change === change).length
  const summary = {
    items: planned.length,
    added: count('added'),
    replaced: count('replaced'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    pilot: rows.filter(({ isNew, row }) => isNew && row.status === 'pilot').length,
    skills,
    warnings: findings.warnings.slice(0, MAX_WARNINGS),
  }
  return { summary, itemIds: [...rows.map(({ row }) => row.item_id), ...unchanged.map(({ row }) => row.item_id)] }
}

/** Returns the stored items of the same skills, or with the same IDs, and locks them. */
async function listStoredItems(tx: Tx, vault: Vault, orgId: string, items: CheckedItem[]): Promise<StoredItem[]> {
  const skillNumbers = [...new Set(items.map((item) => item.skillNumber))]
  const ids = items.flatMap(({ draft }) => draft.externalId ?? [])
  const { rows } = await sql<StoredRow>`
    select item_id, skill_number, external_id, content, status from skill_items where org_id = ${orgId} and source = 'private'
      and (skill_number = any (${skillNumbers}::integer[]) or external_id = any (${ids}::text[]) or item_id = any (${ids}::text[]))
    order by item_id for update`.execute(tx)
  return rows.map((row) => {
    const item = JSON.parse(vault.open(row.content, skillItemPurpose(row.item_id))) as SkillItem
    return { row, item, contentKey: contentKeyOf(row.skill_number, item.texts) }
  })
}

/** Finds the stored item of each item of the file: by its ID, or else by its text. */
function planItems(items: CheckedItem[], stored: StoredItem[]): PlannedItem[] {
  const byId = new Map<string, StoredItem>()
  for (const each of stored) byId.set(each.row.item_id, each)
  for (const each of stored) if (each.row.external_id !== null) byId.set(each.row.external_id, each)
  const storedByItem = new Map<CheckedItem, StoredItem>()
  for (const item of items) {
    const match = item.draft.externalId === undefined ? undefined : byId.get(item.draft.externalId)
    if (match) storedByItem.set(item, match)
  }
  const used = new Set(storedByItem.values())
  const byContent = new Map(stored.filter((each) => !used.has(each)).map((each) => [each.contentKey, each]))
  return items.map((item) => {
    const byText = byContent.get(item.contentKey)
    // An item with another ID of its own stays: two items with the same text are a conflict.
    const isSameItem = byText && (item.draft.externalId === undefined || byText.row.external_id === null)
    const match = storedByItem.get(item) ?? (isSameItem ? byText : undefined)
    return { ...item, stored: match, change: match ? compareItems(item, match) : 'added' }
  })
}

function compareItems({ draft, skillNumber: skill }: CheckedItem, { row, item }: StoredItem): Change {
  const isSameText = (language: Language) => isEqualText(item.texts[language], draft.texts[language])
  // The statistics of an item belong to its text. A further language does not change the text that people have seen.
  if (!LANGUAGES.filter((language) => item.texts[language]).every(isSameText)) return 'replaced'
  const isUnchanged =
    LANGUAGES.every(isSameText) &&
    row.skill_number === skill &&
    item.kind === draft.kind &&
    item.difficulty === PRIOR_DIFFICULTIES[draft.difficulty] &&
    (draft.externalId === undefined || draft.externalId === row.external_id || draft.externalId === row.item_id)
  return isUnchanged ? 'unchanged' : 'updated'
}

function isEqualText(first: ItemText | undefined, second: ItemText | undefined): boolean {
  return (
    JSON.stringify(first && [first.stem, first.options]) === JSON.stringify(second && [second.stem, second.options])
  )
}

/** Reports skills that would have too many items. Retired items do not count. */
function findCrowdedSkills(
  planned: PlannedItem[],
  kept: StoredItem[],
  skillNames: Map<number, string>,
  findings: Findings,
): void {
  const staysRetired = ({ change, stored }: PlannedItem) => change !== 'replaced' && stored?.row.status === 'retired'
  const skills = [
    ...planned.filter((plan) => !staysRetired(plan)).map((plan) => plan.skillNumber),
    ...kept.filter(({ row }) => row.status !== 'retired').map(({ row }) => row.skill_number),
  ]
  const counts = Map.groupBy(skills, (skill) => skill)
  for (const [number, name] of skillNames) {
    const total = counts.get(number)?.length ?? 0
    if (total > MAX_ITEMS_PER_SKILL)
      findings.error(skillId(number), `${name} would have ${total} items; the maximum is ${MAX_ITEMS_PER_SKILL}`)
  }
}

/** Reports items that would have the same text as a stored one that stays. */
function findConflicts(planned: PlannedItem[], kept: StoredItem[], findings: Findings): void {
  const ownerByContent = new Map(
    kept.map(({ contentKey, row }) => [contentKey, `the item ${row.external_id ?? row.item_id}`]),
  )
  for (const { contentKey, draft } of planned) {
    const owner = ownerByContent.get(contentKey)
    if (owner) findings.error(draft.path, sameTextMessage(owner))
  }
}

/** Warns about items of a skill that ask nearly the same question. */
async function findNearDuplicates(planned: PlannedItem[], kept: StoredItem[], findings: Findings): Promise<void> {
  const wordsOf = ({ texts }: { texts: SkillItem['texts'] }) => itemWords(texts.en ?? Object.values(texts)[0]!)
  const languageOf = ({ texts }: { texts: SkillItem['texts'] }) => (texts.en ? 'en' : Object.keys(texts)[0]!)
  const groups = new Map<string, { owner: string; words: ReturnType<typeof itemWords> }[]>()
  const groupOf = (skill: number, language: string) => {
    const key = `${skill} ${language}`
    const group = groups.get(key) ?? []
    groups.set(key, group)
    return group
  }
  for (const { row, item } of kept)
    groupOf(row.skill_number, languageOf(item)).push({
      owner: `the item ${row.external_id ?? row.item_id}`,
      words: wordsOf(item),
    })
  for (const [index, { draft, skillNumber: skill, change }] of planned.entries()) {
    if (index % ITEMS_PER_SLICE === 0) await yieldToEventLoop()
    const group = groupOf(skill, languageOf(draft))
    const words = wordsOf(draft)
    const isNew = change === 'added' || change === 'replaced'
    const similar = isNew ? group.find((other) => isSameQuestion(words, other.words)) : undefined
    if (similar) findings.warn(draft.path, `asks nearly the same question as ${similar.owner}; keep only one of them`)
    group.push({ owner: draft.path, words })
  }
}

interface ChangedRow {
  /** False if the row replaces values of a stored row, which keeps its statistics. */
  isNew: boolean
  row: StoredRow & { org_id: string; content_digest: Buffer }
}

/** Creates the rows of all items except the unchanged ones. */
function createRows(
  planned: PlannedItem[],
  kept: StoredItem[],
  vault: Vault,
  orgId: string,
  now: number,
): ChangedRow[] {
  // New items of a skill that can be measured are asked without being scored, until their statistics are known.
  const activeCounts = new Map<number, number>()
  const staying = planned.filter(({ change }) => change === 'updated' || change === 'unchanged')
  const remaining = [
    ...kept.map(({ row }) => ({ skill: row.skill_number, status: row.status })),
    ...staying.map(({ skillNumber: skill, stored }) => ({ skill, status: stored!.row.status })),
  ]
  for (const { skill, status } of remaining)
    if (status === 'active') activeCounts.set(skill, (activeCounts.get(skill) ?? 0) + 1)
  return planned.flatMap(({ draft, skillNumber: skill, contentKey, change, stored }): ChangedRow[] => {
    if (change === 'unchanged') return []
    const old = change === 'updated' ? stored : undefined
    const itemId = old?.row.item_id ?? newId('IT_', now)
    const item: SkillItem = {
      id: itemId,
      pool: itemId,
      kind: draft.kind,
      difficulty: PRIOR_DIFFICULTIES[draft.difficulty],
      texts: draft.texts,
    }
    const hasItemId = draft.externalId !== undefined && draft.externalId === stored?.row.item_id
    const startStatus = (activeCounts.get(skill) ?? 0) >= MIN_ACTIVE_ITEMS ? 'pilot' : 'active'
    return [
      {
        isNew: !old,
        row: {
          item_id: itemId,
          org_id: orgId,
          skill_number: skill,
          // An item ID in the file refers to the stored item and is not an ID of the organisation's own.
          external_id: (hasItemId ? undefined : draft.externalId) ?? stored?.row.external_id ?? null,
          content: vault.seal(JSON.stringify(item), skillItemPurpose(itemId)),
          content_digest: vault.mac(contentKey, `private item of ${orgId}`),
          status: old?.row.status ?? startStatus,
        },
      },
    ]
  })
}

const ROWS_PER_INSERT = 500

async function writeRows(tx: Tx, planned: PlannedItem[], rows: ChangedRow[], now: Date): Promise<void> {
  const idsOf = (change: Change) =>
    planned.filter((plan) => plan.change === change).map(({ stored }) => stored!.row.item_id)
  const replacedIds = idsOf('replaced')
  const updatedIds = idsOf('updated')
  if (replacedIds.length > 0)
    await sql`delete from skill_items where item_id = any (${replacedIds}::text[])`.execute(tx)
  // Values that must be unique are removed first: items can exchange their texts and IDs.
  if (updatedIds.length > 0)
    await sql`update skill_items set external_id = null, content_digest = convert_to(item_id, 'UTF8')
      where item_id = any (${updatedIds}::text[])`.execute(tx)
  for (const { isNew, row } of rows) {
    if (isNew) continue
    const { item_id, org_id: _, status: __, ...values } = row
    await tx
      .updateTable('skill_items')
      .set({ ...values, updated_at: now })
      .where('item_id', '=', item_id)
      .execute()
  }
  const newRows = rows.filter(({ isNew }) => isNew)
  for (let start = 0; start < newRows.length; start += ROWS_PER_INSERT)
    await tx
      .insertInto('skill_items')
      .values(
        newRows.slice(start, start + ROWS_PER_INSERT).map(({ row }) => ({
          ...row,
          source: 'private' as const,
          created_at: now,
          updated_at: now,
        })),
      )
      .execute()
}

function countBySkill(items: { row: { skill_number: number; status: ItemStatus } }[], names: Map<number, string>) {
  const bySkill = Map.groupBy(items, ({ row }) => row.skill_number)
  return [...names].map(([number, name]) => {
    const ofSkill = bySkill.get(number) ?? []
    const count = (status: ItemStatus) => ofSkill.filter(({ row }) => row.status === status).length
    const active = count('active')
    return {
      skill_id: skillId(number),
      name,
      active,
      pilot: count('pilot'),
      measurable: active >= MIN_ACTIVE_ITEMS,
    }
  })
}
