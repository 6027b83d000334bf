import { sql } from 'kysely'
import { PRIOR_DIFFICULTIES } from '../measurement/model.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { newId } from '../platform/ids.ts'
import type { Language } from '../platform/text/languages.ts'
import { checkItem } from '../questions/checks.ts'
import { fingerprint } from '../questions/fingerprint.ts'
import type { Item, ItemWriter, SkillToAsk } from '../questions/questions.ts'
import { type ItemText, MIN_ACTIVE_ITEMS, type SkillItem } from '../questions/skill-items.ts'
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
const MAX_TRANSLATION_ATTEMPTS = 2
/** Each language needs several calls, one after the other. */
const MAX_CONCURRENT_LANGUAGES = 4

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
      isUnpiloted: true,
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

  /** Adds the languages that items lack. */
  async function translateItems(items: SkillItem[]): Promise<SkillItem[]> {
    const texts = new Map(items.map((item) => [item, { ...item.texts }]))
    const queue = [...languages]
    const translateQueued = async () => {
      for (let language = queue.shift(); language; language = queue.shift())
        for (const [item, text] of await translateInto(language, items)) texts.get(item)![language] = text
    }
    await Promise.all(Array.from({ length: MAX_CONCURRENT_LANGUAGES }, translateQueued))
    return items.map((item) => {
      const itemTexts = texts.get(item)!
      return Object.keys(itemTexts).length > Object.keys(item.texts).length ? { ...item, texts: itemTexts } : item
    })
  }

  /** Translates the items that lack a language. Translations that are dropped are requested once more. */
  async function translateInto(language: Language, items: SkillItem[]): Promise<Map<SkillItem, ItemText>> {
    const translated = new Map<SkillItem, ItemText>()
    for (let attempt = 1; attempt <= MAX_TRANSLATION_ATTEMPTS; attempt++) {
      const lacking = items.filter((item) => !item.texts[language] && !translated.has(item))
      for (const [from, group] of Map.groupBy(lacking, (item) => Object.keys(item.texts)[0] as Language))
        for (const [item, text] of await confirmTranslations(language, await translateGroup(from, language, group)))
          translated.set(item, text)
    }
    return translated
  }

  /** Translates items, and drops translations that fail a check, for example because they reveal the answer. */
  async function translateGroup(from: Language, language: Language, group: SkillItem[]): Promise<Translation[]> {
    const originals = group.flatMap((item) => [item.texts[from]!.stem, ...item.texts[from]!.options])
    const translations = (await writer.translate({ texts: originals, from, to: [language], signal }))?.[language]
    if (translations?.length !== originals.length) return []
    return group.flatMap((item, index): Translation[] => {
      const [stem, ...options] = translations.slice(index * TEXTS_PER_ITEM, (index + 1) * TEXTS_PER_ITEM)
      const text = { stem: stem!, options }
      return checkItem({ ...text, key: 0, language }).length === 0 ? [[item, text]] : []
    })
  }

  /**
   * Returns the translations whose key a second call of the model confirms without seeing it, as for the originals: a translation can
   * confuse options or change their meaning, so that another one is right.
   */
  async function confirmTranslations(language: Language, translations: Translation[]): Promise<Translation[]> {
    const items = translations.map(
      ([{ kind }, { stem, options }]): Item => ({
        skill: skill.number,
        stem,
        options: options as Item['options'],
        key: 0,
        difficulty: 2,
        kind,
        language,
      }),
    )
    if (items.length === 0) return []
    const confirmed = new Set(await writer.confirmKeys({ items, skill, seed: newId('IT_', now()), signal }))
    return translations.filter((_, index) => confirmed.has(items[index]!))
  }
}

type Translation = [SkillItem, ItemText]

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
  for (const { isPilot: _, isUnpiloted: __, difficulty, ...item } of items) {
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
