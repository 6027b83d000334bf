import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { skillId, skillNumber } from '../catalogue/ids.ts'
import { checkItem } from '../questions/checks.ts'
import type { Item, QuestionWriter, SkillToAsk } from '../questions/questions.ts'
import type { Language } from '../workflows/workflows.ts'
import { type MandateBody, toVerify } from './body.ts'
import type { Flow, FlowItem } from './flow.ts'
import { BANK_LANGUAGES, type Untold } from './languages.ts'

/** Questions for each skill to verify. */
const ITEMS_A_SKILL = 3
/** Enough that an item is found again where the other language took a slightly different choice. */
const ITEMS_TO_JOIN = 8
/** Different sets of questions that the built-in writer is asked for about one skill: its bank has not many more. */
const VARIANTS = 16
const MOST_REMEMBERED = 500

export interface FlowRequest {
  mandateId: string
  flowVersion: number
  body: MandateBody
  /** The workflow's. */
  languages: Language[]
  signal: AbortSignal
}

export interface WrittenFlow {
  flow: Flow
  untold: Untold
}

/** Too few questions could be written; the message says so in words for partners. */
export class TooFewQuestions extends Error {}

/** The catalogue, as far as questions need it. */
export interface SkillsToAsk {
  readonly current: { version: number; skill(number: number): SkillToAsk | undefined }
}

export class FlowWriter {
  private readonly writer: QuestionWriter
  private readonly catalogue: SkillsToAsk
  /** What the built-in writer wrote, by skill, languages and variant; the one used longest ago is first. */
  private readonly remembered = new Map<string, FlowItem[]>()

  constructor(writer: QuestionWriter, catalogue: SkillsToAsk) {
    this.writer = writer
    this.catalogue = catalogue
  }

  /** Writes everything that candidates are asked: enrichment, then skills, then interest. Takes as long as the writer takes. */
  async write(request: FlowRequest): Promise<WrittenFlow> {
    const { body, languages } = request
    const { methods, company_name, title } = body
    const enrichment = methods.includes('data_enrichment') ? await writeEnrichment(this.writer, request) : []
    const skills = methods.includes('skill_verification') ? await this.writeSkills(request) : []
    const interest = methods.includes('interest_collection')
    const items = skills.flatMap((skill) => skill.items)
    return {
      flow: { methods, languages, company_name, title, enrichment, skills, interest },
      untold: {
        enrichment: languages.filter((language) => enrichment.some(({ text }) => text[language] === undefined)),
        skills: languages.filter((language) => items.some(({ text }) => text[language] === undefined)),
      },
    }
  }

  private async writeSkills({ body, languages, mandateId, flowVersion, signal }: FlowRequest): Promise<Flow['skills']> {
    const asked = toVerify(body.skills).map((id) => {
      const skill = this.catalogue.current.skill(skillNumber(id)!)
      if (!skill) throw new Error(`the catalogue here does not have ${id} yet`)
      return { number: skill.number, name: skill.name, description: skill.description }
    })
    const chance = hash('sha1', `${mandateId} ${flowVersion}`, 'buffer').readUInt32BE()
    const write =
      this.writer.kind === 'built-in'
        ? (skill: SkillToAsk) => this.recall(skill, languages, chance % VARIANTS, signal)
        : (skill: SkillToAsk) => writeItems(this.writer, skill, { languages, seed: String(chance), signal })
    return Promise.all(
      asked.map(async (skill) => ({
        skill_id: skillId(skill.number),
        name: skill.name,
        items: await write(skill),
      })),
    )
  }

  /** Choosing and checking items takes milliseconds, and many mandates ask about the same skills. */
  private async recall(
    skill: SkillToAsk,
    languages: Language[],
    variant: number,
    signal: AbortSignal,
  ): Promise<FlowItem[]> {
    const key = `${this.catalogue.current.version} ${skill.number} ${languages} ${variant}`
    let items = this.remembered.get(key)
    if (!items) {
      await setImmediate() // requests that came in meanwhile are served first
      items = await writeItems(this.writer, skill, { languages, seed: `mandate ${variant}`, signal })
    }
    this.remembered.delete(key)
    this.remembered.set(key, items)
    if (this.remembered.size > MOST_REMEMBERED) this.remembered.delete(this.remembered.keys().next().value!)
    return items
  }
}

async function writeEnrichment(
  writer: QuestionWriter,
  { body, languages, signal }: FlowRequest,
): Promise<Flow['enrichment']> {
  const questions = body.enrichment_questions ?? []
  const foreign = languages.filter((language) => language !== 'en')
  const texts = questions.map(({ text }) => text)
  const translated =
    foreign.length > 0 && texts.length > 0
      ? await writer.translate({ texts, from: 'en', to: foreign, signal })
      : undefined
  return questions.map(({ key, type, text, knockout, required }, index) => {
    const others = foreign.flatMap((language) => {
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

interface ItemsWanted {
  languages: Language[]
  seed: string
  signal: AbortSignal
}

/** Some items about a skill, each in as many of the languages as the writer knows. */
async function writeItems(
  writer: QuestionWriter,
  skill: SkillToAsk,
  { languages, seed, signal }: ItemsWanted,
): Promise<FlowItem[]> {
  const base = baseLanguage(writer, languages)
  const write = (language: Language, count: number) =>
    writer.writeItems({ skills: [{ skill, count }], context: {}, language, seed, signal })
  const { items, short } = await write(base, ITEMS_A_SKILL)
  if (short.length > 0) throw new TooFewQuestions(`Too few questions could be written for ${skill.name}.`)
  const written = flowItems(items)
  const others = languages.filter((language) => language !== base)
  if (writer.kind === 'ai') await translateItems(writer, items, written, base, others, signal)
  else
    for (const language of others.filter((other) => BANK_LANGUAGES.includes(other)))
      joinWordings(items, written, (await write(language, ITEMS_TO_JOIN)).items, language)
  return written
}

/** English where it will do: it is what most items are written in, and best. */
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

/** Adds the wording that the bank has of the same items in another language. */
function joinWordings(items: Item[], written: FlowItem[], others: Item[], language: Language): void {
  const byId = new Map(others.flatMap((other) => (other.bankId ? [[other.bankId, other]] : [])))
  for (const [index, { bankId }] of items.entries()) {
    const other = bankId ? byId.get(bankId) : undefined
    if (other?.language !== language) continue
    const item = written[index]!
    item.text[language] = { stem: other.stem, options: withKeyAt(item.key, other) }
  }
}

/** The options of a wording that was shuffled differently, with the right one where the item has it. */
function withKeyAt(key: number, { options, key: own }: Item): Item['options'] {
  const moved: Item['options'] = [...options]
  moved[key] = options[own]!
  moved[own] = options[key]!
  return moved
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
      // A translation that betrays the answer is worse than none.
      if (checkItem({ stem, options, key: item.key, language }).length > 0) continue
      item.text[language] = { stem, options }
    }
  }
}
