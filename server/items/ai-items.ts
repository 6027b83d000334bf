import { sql } from 'kysely'
import { PRIOR_DIFFICULTIES } from '../measurement/model.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { newId } from '../platform/ids.ts'
import type { Language } from '../platform/text/languages.ts'
import { checkItem } from '../questions/checks.ts'
import { fingerprint } from '../questions/fingerprint.ts'
import type { Item, ItemWriter, SkillToAsk } from '../questions/questions.ts'
import { MIN_ACTIVE_ITEMS, type SkillItem } from '../questions/skill-items.ts'
import { WriterError } from '../questions/writer-error.ts'
import { type ItemSet, listOwnItems, skillItemPurpose } from './item-store.ts'

interface AiItemsDeps {
  db: Pick<Database, 'transaction'>
  writer: ItemWriter
  now: () => number
}

interface AiItemsRequest {
  orgId: string
  skill: SkillToAsk
  /** Items that the AI writer has written before. */
  existing: SkillItem[]
  languages: readonly Language[]
  signal: AbortSignal
}

/** Texts to translate per item: the stem, the key and three distractors. */
const TEXTS_PER_ITEM = 5

/**
 * Returns the items of the AI writer about a skill in the languages of the workflow. Items are written once and stored, so that later
 * mandates use them, and their statistics accumulate. Missing items and translations are added.
 */
export async function writeAiItems(
  { db, writer, now }: AiItemsDeps,
  { orgId, skill, existing, languages, signal }: AiItemsRequest,
): Promise<ItemSet> {
  const activeCount = existing.filter(({ isPilot }) => !isPilot).length
  const baseLanguage = languages.includes('en') ? 'en' : (languages[0] ?? 'en')
  const missingCount = MIN_ACTIVE_ITEMS - activeCount
  const written = missingCount > 0 ? await writeMissingItems(missingCount) : []
  const newItems = written.map(({ kind, difficulty, stem, options, key, language }): SkillItem => {
    const id = newId('IT_', now())
    return {
      id,
      pool: id,
      kind,
      difficulty: PRIOR_DIFFICULTIES[difficulty],
      texts: { [language]: { stem, options: [options[key]!, ...options.filter((_, index) => index !== key)] } },
    }
  })
  const translated = await translateItems([...existing, ...newItems])
  const changedItems = translated.filter((item) => !existing.includes(item))
  if (changedItems.length === 0) return { source: 'ai', items: translated }
  const storedItems = await db.transaction(async (tx) => {
    const concurrentItems = await findConcurrentItems(tx, orgId, skill.number, existing)
    if (concurrentItems) return concurrentItems
    await storeAiItems(tx, orgId, skill.number, changedItems, new Date(now()))
    return undefined
  })
  // Another process has written items meanwhile: use them, so that the items of a skill are written once.
  if (storedItems) return writeAiItems({ db, writer, now }, { orgId, skill, existing: storedItems, languages, signal })
  return { source: 'ai', items: translated }

  async function writeMissingItems(count: number): Promise<Item[]> {
    const { items, incompleteSkills } = await writer.writeItems({
      skills: [{ skill, count, avoid: existing.flatMap((item) => fingerprintsOf(skill.number, item)) }],
      context: {},
      language: baseLanguage,
      seed: newId('IT_', now()),
      signal,
    })
    if (incompleteSkills.length > 0)
      throw new WriterError('invalid', `too few questions about ${skill.name} passed the checks`)
    return items
  }

  /** Adds the languages that items lack. A translation that reveals the answer is left out. */
  async function translateItems(items: SkillItem[]): Promise<SkillItem[]> {
    const texts = new Map(items.map((item) => [item, { ...item.texts }]))
    for (const language of languages) {
      const lacking = items.filter((item) => !item.texts[language])
      for (const [from, group] of Map.groupBy(lacking, (item) => Object.keys(item.texts)[0] as Language)) {
        const originals = group.flatMap((item) => [item.texts[from]!.stem, ...item.texts[from]!.options])
        const translations = (await writer.translate({ texts: originals, from, to: [language], signal }))?.[language]
        if (translations?.length !== originals.length) continue
        for (const [index, item] of group.entries()) {
          const [stem, ...options] = translations.slice(index * TEXTS_PER_ITEM, (index + 1) * TEXTS_PER_ITEM) as [
            string,
            ...string[],
          ]
          if (checkItem({ stem, options, key: 0, language }).length === 0)
            texts.get(item)![language] = { stem, options }
        }
      }
    }
    return items.map((item) => {
      const itemTexts = texts.get(item)!
      return Object.keys(itemTexts).length > Object.keys(item.texts).length ? { ...item, texts: itemTexts } : item
    })
  }
}

function fingerprintsOf(skillNumber: number, { texts }: SkillItem): string[] {
  return Object.values(texts).map(({ options }) => fingerprint({ skill: skillNumber, options, key: 0 }))
}

/**
 * Returns the items of the AI writer about a skill if another process has added items or languages since `existing` was read. Processes
 * that store items of the same skill wait for each other.
 */
async function findConcurrentItems(
  tx: Tx,
  orgId: string,
  skillNumber: number,
  existing: readonly SkillItem[],
): Promise<SkillItem[] | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`AI items ${orgId} ${skillNumber}`}, 0))`.execute(tx)
  const ownSets = await listOwnItems(tx, vaultOf(tx), orgId, skillNumber)
  const storedItems = ownSets.find(({ source }) => source === 'ai')?.items ?? []
  const languagesById = new Map(existing.map(({ id, texts }) => [id, Object.keys(texts).length]))
  const hasAdditions = storedItems.some(({ id, texts }) => Object.keys(texts).length > (languagesById.get(id) ?? 0))
  return hasAdditions ? storedItems : undefined
}

async function storeAiItems(tx: Tx, orgId: string, skillNumber: number, items: SkillItem[], now: Date): Promise<void> {
  const vault = vaultOf(tx)
  const authorDifficulties = await readAuthorDifficulties(tx, items)
  for (const { isPilot: _, difficulty, ...item } of items) {
    const storedItem = { ...item, difficulty: authorDifficulties.get(item.id) ?? difficulty }
    const content = vault.seal(JSON.stringify(storedItem), skillItemPurpose(item.id))
    await tx
      .insertInto('skill_items')
      .values({
        item_id: item.id,
        org_id: orgId,
        skill_number: skillNumber,
        source: 'ai',
        content,
        content_digest: vault.mac(item.id, 'skill item'),
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) => conflict.column('item_id').doUpdateSet({ content, updated_at: now }))
      .execute()
  }
}

/** Returns the author's difficulties of stored items. Difficulties estimated from responses are in a separate column. */
async function readAuthorDifficulties(tx: Tx, items: readonly SkillItem[]): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('skill_items')
    .select(['item_id', 'content'])
    .where(
      'item_id',
      'in',
      items.map(({ id }) => id),
    )
    .execute()
  const difficultyOf = ({ item_id, content }: { item_id: string; content: Buffer }) =>
    (JSON.parse(vaultOf(tx).open(content, skillItemPurpose(item_id))) as SkillItem).difficulty
  return new Map(rows.map((row) => [row.item_id, difficultyOf(row)]))
}
