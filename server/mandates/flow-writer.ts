import { setImmediate } from 'node:timers/promises'
import type { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { itemSetId } from '../items/item-sets.ts'
import type { ItemSet } from '../items/item-store.ts'
import type { SkillItemSource } from '../items/skill-item-source.ts'
import { drawItem } from '../measurement/form.ts'
import { PRIOR_DIFFICULTIES } from '../measurement/model.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Language } from '../platform/text/languages.ts'
import type { QuestionWriter, SkillToAsk } from '../questions/questions.ts'
import { distractorCount, languagesOf, type SkillItem, showItem } from '../questions/skill-items.ts'
import type { CreatedVia } from '../workflows/enums.ts'
import { type MandateBody, skillsToVerify } from './body.ts'
import type { ExampleItem, StoredFlow, StoredFlowSkill } from './flow.ts'
import {
  type MissingLanguages,
  missingSkillLanguages,
  missingTranslations,
  translatesUnconfirmed,
} from './languages.ts'

/** Number of items that partners see as examples. */
const EXAMPLE_ITEMS = 3
const MAX_CACHED_SKILLS = 500

export interface FlowRequest {
  orgId: string
  body: MandateBody
  createdVia: CreatedVia
  /** The loaded skills to verify. */
  skills: LoadedSkills<SkillToAsk>
  /** Languages of the workflow. */
  languages: Language[]
  signal: AbortSignal
}

export interface WrittenFlow {
  flow: StoredFlow
  /** The items of each skill, to be stored with the flow. */
  itemSets: (ItemSet & { setId: string })[]
  missingLanguages: MissingLanguages
}

interface WrittenSkill {
  skill: StoredFlowSkill
  itemSet: ItemSet & { setId: string }
}

/** Writes the questions of mandates. */
export class FlowWriter {
  private readonly writer: QuestionWriter
  private readonly itemSource: SkillItemSource
  /** Written skills of the built-in bank by set and languages; least recently used first. */
  private readonly cache = new BoundedMap<string, WrittenSkill>(MAX_CACHED_SKILLS)

  constructor(writer: QuestionWriter, itemSource: SkillItemSource) {
    this.writer = writer
    this.itemSource = itemSource
  }

  /** Writes the whole flow: enrichment questions, skill questions and the interest question. Slow with an AI writer. */
  async write(request: FlowRequest): Promise<WrittenFlow> {
    const { body, languages } = request
    const { methods, company_name, title } = body
    const enrichment = methods.includes('data_enrichment') ? await writeEnrichment(this.writer, request) : []
    const writtenSkills = methods.includes('skill_verification') ? await this.writeSkills(request) : []
    const skills = writtenSkills.map(({ skill }) => skill)
    const interest = methods.includes('interest_collection')
    return {
      flow: { methods, languages, company_name, title, enrichment, skills, interest },
      itemSets: writtenSkills.map(({ itemSet }) => itemSet),
      missingLanguages: {
        enrichment: missingTranslations(enrichment, languages),
        skills: missingSkillLanguages(skills, languages),
      },
    }
  }

  private async writeSkills({ orgId, body, skills, languages, signal }: FlowRequest): Promise<WrittenSkill[]> {
    const idBySkill = new Map<SkillToAsk, string>()
    for (const id of skillsToVerify(body.skills)) {
      const skill = skills.byId(id)
      if (!skill) throw new Error(`skill ${id} not found`)
      // Skills of the mandate that were merged later are the same skill, which is asked once.
      if (!idBySkill.has(skill)) idBySkill.set(skill, id)
    }
    const skillsToAsk = [...idBySkill.keys()]
    if (skillsToAsk.length === 0) return []
    const itemSets = await this.itemSource.itemsForAll(orgId, skillsToAsk, languages, signal)
    return Promise.all(
      skillsToAsk.map((skill, index) => this.writeSkill(idBySkill.get(skill)!, skill, itemSets[index]!, languages)),
    )
  }

  /** Builds the stored form of a skill, with its ID in the mandate. Cached, because many mandates verify the same skills. */
  private async writeSkill(
    id: string,
    skill: SkillToAsk,
    { source, items }: ItemSet,
    languages: Language[],
  ): Promise<WrittenSkill> {
    const cacheKey = `${id} ${languages}`
    const cached = source === 'bank' ? this.cache.get(cacheKey) : undefined
    if (cached?.itemSet.items === items) return cached
    await setImmediate() // let pending requests run first
    const setId = itemSetId(items)
    const written: WrittenSkill = {
      skill: {
        skill_id: id,
        name: skill.name,
        source,
        set_id: setId,
        item_count: items.length,
        languages: languagesOf(items),
        examples: source === 'private' ? [] : exampleItems(items, setId, languages),
      },
      itemSet: { source, items, setId },
    }
    if (source === 'bank') this.cache.set(cacheKey, written)
    return written
  }
}

/** Returns items as a candidate may see them, in the languages of the workflow, or in English. */
function exampleItems(items: SkillItem[], seed: string, languages: Language[]): ExampleItem[] {
  const scoredItems = items.filter(({ isPilot }) => !isPilot)
  const drawable = scoredItems.map((item) => ({
    pool: item.pool,
    kind: item.kind,
    distractorCount: distractorCount(item),
  }))
  const asked: number[] = []
  const examples: ExampleItem[] = []
  while (examples.length < EXAMPLE_ITEMS) {
    const drawn = drawItem(drawable, asked, seed)
    if (!drawn) break
    asked.push(drawn.item)
    const item = scoredItems[drawn.item]!
    const available = languages.filter((language) => item.texts[language])
    const shownLanguages = available.length > 0 ? available : (['en'] as Language[])
    examples.push({
      difficulty: authorDifficulty(item),
      text: Object.fromEntries(
        shownLanguages.map((language) => [language, showItem(item, drawn.options, seed, language)]),
      ),
    })
  }
  return examples
}

/** Returns the difficulty from 1 (easy) to 3 that is nearest to that of the item. */
function authorDifficulty({ difficulty }: SkillItem): number {
  const distances = ([1, 2, 3] as const).map((level) => Math.abs(PRIOR_DIFFICULTIES[level] - difficulty))
  return distances.indexOf(Math.min(...distances)) + 1
}

/**
 * Writes the enrichment questions in the languages of the workflow: the partner's texts first, then those of the writer if nobody has to
 * confirm them.
 */
async function writeEnrichment(
  writer: QuestionWriter,
  { body, createdVia, languages, signal }: FlowRequest,
): Promise<StoredFlow['enrichment']> {
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
    texts.length > 0 && translatesUnconfirmed(createdVia)
      ? await writer.translate({ texts, from: 'en', to: missingLanguages, signal })
      : undefined
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
