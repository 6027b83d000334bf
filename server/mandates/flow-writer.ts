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
import { BANK_LANGUAGES, type MissingLanguages } from './languages.ts'

/** Questions per skill to verify. */
const ITEMS_PER_SKILL = 3
/** Enough items to find the same ones in a second language, whose selection may differ slightly. */
const ITEMS_TO_MATCH = 8
/** Number of different question sets per skill from the built-in writer, whose bank does not have many more items. */
const VARIANTS_PER_SKILL = 16
const MAX_CACHED_SETS = 500

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
  private readonly cache = new BoundedMap<string, FlowItem[]>(MAX_CACHED_SETS)

  constructor(writer: QuestionWriter, catalogue: VersionedCatalogue) {
    this.writer = writer
    this.catalogue = catalogue
  }

  /** Writes the whole flow: enrichment, skills, interest. Slow with an AI writer. */
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
        enrichment: languages.filter((language) => enrichment.some(({ text }) => text[language] === undefined)),
        skills: languages.filter((language) => items.some(({ text }) => text[language] === undefined)),
      },
    }
  }

  private async writeSkills({
    body,
    skills: loaded,
    languages,
    mandateId,
    flowVersion,
    signal,
  }: FlowRequest): Promise<Flow['skills']> {
    const skills = skillsToVerify(body.skills).map((id) => {
      const skill = loaded.byId(id)
      if (!skill) throw new Error(`skill ${id} not found`)
      return { number: skill.number, name: skill.name, description: skill.description }
    })
    const seed = hash('sha1', `${mandateId} ${flowVersion}`, 'buffer').readUInt32BE()
    const write =
      this.writer.kind === 'built-in'
        ? (skill: SkillToAsk) => this.cachedItems(skill, languages, seed % VARIANTS_PER_SKILL, signal)
        : (skill: SkillToAsk) => writeItems(this.writer, skill, { languages, seed: String(seed), signal })
    return Promise.all(
      skills.map(async (skill) => ({
        skill_id: skillId(skill.number),
        name: skill.name,
        items: await write(skill),
      })),
    )
  }

  /** Caches items, because selecting and checking takes milliseconds and many mandates verify the same skills. */
  private async cachedItems(
    skill: SkillToAsk,
    languages: Language[],
    variant: number,
    signal: AbortSignal,
  ): Promise<FlowItem[]> {
    const key = `${this.catalogue.current.version} ${skill.number} ${languages} ${variant}`
    let items = this.cache.get(key)
    if (!items) {
      await setImmediate() // let pending requests run first
      items = await writeItems(this.writer, skill, { languages, seed: `mandate ${variant}`, signal })
    }
    this.cache.set(key, items)
    return items
  }
}

async function writeEnrichment(
  writer: QuestionWriter,
  { body, languages, signal }: FlowRequest,
): Promise<Flow['enrichment']> {
  const questions = body.enrichment_questions ?? []
  const otherLanguages = languages.filter((language) => language !== 'en')
  const texts = questions.map(({ text }) => text)
  const translated =
    otherLanguages.length > 0 && texts.length > 0
      ? await writer.translate({ texts, from: 'en', to: otherLanguages, signal })
      : undefined
  return questions.map(({ key, type, text, knockout, required }, index) => {
    const others = otherLanguages.flatMap((language) => {
      const wording = translated?.[language]?.[index]
      return wording?.trim() ? [[language, wording]] : []
    })
    return {
      key,
      type,
      text: { en: text, ...Object.fromEntries(others) },
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
  const base = baseLanguage(writer, languages)
  const write = (language: Language, count: number) =>
    writer.writeItems({ skills: [{ skill, count }], context: {}, language, seed, signal })
  const { items, incompleteSkills } = await write(base, ITEMS_PER_SKILL)
  if (incompleteSkills.length > 0)
    throw new TooFewQuestionsError(`Too few questions could be written for ${skill.name}.`)
  const written = flowItems(items)
  const others = languages.filter((language) => language !== base)
  if (writer.kind === 'ai') await translateItems(writer, items, written, base, others, signal)
  else
    for (const language of others.filter((other) => BANK_LANGUAGES.includes(other)))
      addWordings(items, written, (await write(language, ITEMS_TO_MATCH)).items, language)
  return written
}

/** Prefers English, in which most items are written. */
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
function addWordings(items: Item[], written: FlowItem[], others: Item[], language: Language): void {
  const byId = new Map(others.flatMap((other) => (other.bankId ? [[other.bankId, other]] : [])))
  for (const [index, { bankId }] of items.entries()) {
    const other = bankId ? byId.get(bankId) : undefined
    if (other?.language !== language) continue
    const item = written[index]!
    item.text[language] = { stem: other.stem, options: swapKeyTo(item.key, other) }
  }
}

/** Reorders the options of a differently shuffled wording, so that its key is at the item's position. */
function swapKeyTo(key: number, { options, key: otherKey }: Item): Item['options'] {
  const swapped: Item['options'] = [...options]
  swapped[key] = options[otherKey]!
  swapped[otherKey] = options[key]!
  return swapped
}

async function translateItems(
  writer: QuestionWriter,
  items: Item[],
  written: FlowItem[],
  from: Language,
  to: Language[],
  signal: AbortSignal,
): Promise<void> {
  if (to.length === 0) return
  const texts = items.flatMap(({ stem, options }) => [stem, ...options])
  const translated = await writer.translate({ texts, from, to, signal })
  for (const language of to) {
    const wordings = translated?.[language]
    if (wordings?.length !== texts.length) continue
    for (const [index, item] of written.entries()) {
      const [stem, ...options] = wordings.slice(index * 5, index * 5 + 5) as [string, ...Item['options']]
      // Drop translations that give the answer away.
      if (checkItem({ stem, options, key: item.key, language }).length > 0) continue
      item.text[language] = { stem, options }
    }
  }
}
