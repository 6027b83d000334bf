import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { skillId } from '../catalogue/ids.ts'
import type { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Language } from '../platform/text/languages.ts'
import { checkItem } from '../questions/checks.ts'
import type { Item, QuestionWriter, SkillToAsk } from '../questions/questions.ts'
import { type MandateBody, skillsToVerify } from './body.ts'
import type { Flow, FlowItem } from './flow.ts'
import { BANK_LANGUAGES, type MissingLanguages, missingTranslations } from './languages.ts'

/** Number of questions per skill to verify. */
const ITEMS_PER_SKILL = 3
/** Items requested in another language: enough to find the same items again, although the selection may differ slightly. */
const ITEMS_PER_OTHER_LANGUAGE = 8
/** Number of different question sets per skill from the built-in writer, whose bank does not have many more items. */
const VARIANTS_PER_SKILL = 16
const MAX_CACHED_QUESTION_SETS = 500
/** Texts to translate per item: the stem and four options. */
const TEXTS_PER_ITEM = 5

export interface FlowRequest {
  mandateId: string
  flowVersion: number
  body: MandateBody
  /** The loaded skills to verify. */
  skills: LoadedSkills<SkillToAsk>
  /** Languages of the workflow. */
  languages: Language[]
  signal: AbortSignal
}

export interface WrittenFlow {
  flow: Flow
  missingLanguages: MissingLanguages
}

/** Too few questions could be written. The message is shown to partners. */
export class TooFewQuestionsError extends Error {}

/** The part of the catalogue that question writing uses. */
export interface VersionedCatalogue {
  readonly current: { version: number }
}

export class FlowWriter {
  private readonly writer: QuestionWriter
  private readonly catalogue: VersionedCatalogue
  /** Items of the built-in writer by skill, languages and variant; least recently used first. */
  private readonly cache = new BoundedMap<string, FlowItem[]>(MAX_CACHED_QUESTION_SETS)

  constructor(writer: QuestionWriter, catalogue: VersionedCatalogue) {
    this.writer = writer
    this.catalogue = catalogue
  }

  /** Writes the whole flow: enrichment questions, skill questions and the interest question. Slow with an AI writer. */
  async write(request: FlowRequest): Promise<WrittenFlow> {
    const { body, languages } = request
    const { methods, company_name, title } = body
    const enrichment = methods.includes('data_enrichment') ? await writeEnrichment(this.writer, request) : []
    const skills = methods.includes('skill_verification') ? await this.writeSkills(request) : []
    const interest = methods.includes('interest_collection')
    const items = skills.flatMap((skill) => skill.items)
    return {
      flow: { methods, languages, company_name, title, enrichment, skills, interest },
      missingLanguages: {
        enrichment: missingTranslations(enrichment, languages),
        skills: languages.filter((language) => items.some(({ text }) => text[language] === undefined)),
      },
    }
  }

  private async writeSkills({
    body,
    skills: loadedSkills,
    languages,
    mandateId,
    flowVersion,
    signal,
  }: FlowRequest): Promise<Flow['skills']> {
    const skills = skillsToVerify(body.skills).map((id) => {
      const skill = loadedSkills.byId(id)
      if (!skill) throw new Error(`skill ${id} not found`)
      return { number: skill.number, name: skill.name, description: skill.description }
    })
    const seed = hash('sha1', `${mandateId} ${flowVersion}`, 'buffer').readUInt32BE()
    const writeSkillItems =
      this.writer.kind === 'built-in'
        ? (skill: SkillToAsk) => this.cachedItems(skill, languages, seed % VARIANTS_PER_SKILL, signal)
        : (skill: SkillToAsk) => writeItems(this.writer, skill, { languages, seed: String(seed), signal })
    return Promise.all(
      skills.map(async (skill) => ({
        skill_id: skillId(skill.number),
        name: skill.name,
        items: await writeSkillItems(skill),
      })),
    )
  }

  /** Caches items, because selecting and checking them takes milliseconds and many mandates verify the same skills. */
  private async cachedItems(
    skill: SkillToAsk,
    languages: Language[],
    variant: number,
    signal: AbortSignal,
  ): Promise<FlowItem[]> {
    const cacheKey = `${this.catalogue.current.version} ${skill.number} ${languages} ${variant}`
    let items = this.cache.get(cacheKey)
    if (!items) {
      await setImmediate() // let pending requests run first
      items = await writeItems(this.writer, skill, { languages, seed: `mandate ${variant}`, signal })
    }
    this.cache.set(cacheKey, items)
    return items
  }
}

/** Writes the enrichment questions in the languages of the workflow: the partner's texts first, then those of the writer. */
async function writeEnrichment(
  writer: QuestionWriter,
  { body, languages, signal }: FlowRequest,
): Promise<Flow['enrichment']> {
  const questions = body.enrichment_questions ?? []
  const otherLanguages = languages.filter((language) => language !== 'en')
  const missing = missingTranslations(
    questions.map(({ key, text, translations }) => ({ key, text: { en: text, ...translations } })),
    otherLanguages,
  )
  const missingKeys = missing.map(({ key }) => key)
  const texts = questions.filter(({ key }) => missingKeys.includes(key)).map(({ text }) => text)
  const missingLanguages = otherLanguages.filter((language) =>
    missing.some(({ languages }) => languages.includes(language)),
  )
  const written =
    texts.length > 0 ? await writer.translate({ texts, from: 'en', to: missingLanguages, signal }) : undefined
  return questions.map(({ key, type, text, translations, knockout, required }) => {
    const translatedTexts = otherLanguages.flatMap((language) => {
      const wording = translations?.[language] ?? written?.[language]?.[missingKeys.indexOf(key)]
      return wording?.trim() ? [[language, wording]] : []
    })
    return {
      key,
      type,
      text: { en: text, ...Object.fromEntries(translatedTexts) },
      ...(knockout ? { knockout } : {}),
      required,
    }
  })
}

interface ItemRequest {
  languages: Language[]
  seed: string
  signal: AbortSignal
}

/** Writes items about a skill, each in as many of the languages as the writer supports. */
async function writeItems(
  writer: QuestionWriter,
  skill: SkillToAsk,
  { languages, seed, signal }: ItemRequest,
): Promise<FlowItem[]> {
  const writtenLanguage = baseLanguage(writer, languages)
  const writeInLanguage = (language: Language, count: number) =>
    writer.writeItems({ skills: [{ skill, count }], context: {}, language, seed, signal })
  const { items, incompleteSkills } = await writeInLanguage(writtenLanguage, ITEMS_PER_SKILL)
  if (incompleteSkills.length > 0)
    throw new TooFewQuestionsError(`Too few questions could be written for ${skill.name}.`)
  const writtenItems = flowItems(items)
  const otherLanguages = languages.filter((language) => language !== writtenLanguage)
  if (writer.kind === 'ai') await translateItems(writer, items, writtenItems, writtenLanguage, otherLanguages, signal)
  else
    for (const language of otherLanguages.filter((otherLanguage) => BANK_LANGUAGES.includes(otherLanguage)))
      addWordings(items, writtenItems, (await writeInLanguage(language, ITEMS_PER_OTHER_LANGUAGE)).items, language)
  return writtenItems
}

/** Returns the language in which items are written first: English if possible, because most items exist in English. */
function baseLanguage({ kind }: QuestionWriter, languages: Language[]): Language {
  if (languages.includes('en')) return 'en'
  return languages.find((language) => kind === 'ai' || BANK_LANGUAGES.includes(language)) ?? 'en'
}

function flowItems(items: Item[]): FlowItem[] {
  return items.map(({ skill, stem, options, key, difficulty, bankId, language }, index) => ({
    item_id: bankId ?? `${skill}-${index + 1}`,
    key,
    difficulty,
    text: { [language]: { stem, options } },
  }))
}

/** Adds the bank's wording of the same items in another language. */
function addWordings(items: Item[], writtenItems: FlowItem[], otherItems: Item[], language: Language): void {
  const otherItemByBankId = new Map(otherItems.flatMap((item) => (item.bankId ? [[item.bankId, item]] : [])))
  for (const [index, { bankId }] of items.entries()) {
    const otherItem = bankId ? otherItemByBankId.get(bankId) : undefined
    if (otherItem?.language !== language) continue
    const item = writtenItems[index]!
    item.text[language] = { stem: otherItem.stem, options: swapKeyTo(item.key, otherItem) }
  }
}

/** Reorders the options of a differently shuffled wording, so that its key is at the item's position. */
function swapKeyTo(key: number, { options, key: otherKey }: Item): Item['options'] {
  const reordered: Item['options'] = [...options]
  reordered[key] = options[otherKey]!
  reordered[otherKey] = options[key]!
  return reordered
}

async function translateItems(
  writer: QuestionWriter,
  items: Item[],
  writtenItems: FlowItem[],
  from: Language,
  to: Language[],
  signal: AbortSignal,
): Promise<void> {
  if (to.length === 0) return
  const texts = items.flatMap(({ stem, options }) => [stem, ...options])
  const translations = await writer.translate({ texts, from, to, signal })
  for (const language of to) {
    const wordings = translations?.[language]
    if (wordings?.length !== texts.length) continue
    for (const [index, item] of writtenItems.entries()) {
      const [stem, ...options] = wordings.slice(index * TEXTS_PER_ITEM, (index + 1) * TEXTS_PER_ITEM) as [
        string,
        ...Item['options'],
      ]
      // Drop translations that give the answer away.
      if (checkItem({ stem, options, key: item.key, language }).length > 0) continue
      item.text[language] = { stem, options }
    }
  }
}
