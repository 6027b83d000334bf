import { setImmediate } from 'node:timers/promises'
import type { Language } from '../platform/text/languages.ts'
import { Bank, type BankItemWithId } from './bank/bank.ts'
import { checkItem } from './checks.ts'
import { Composer } from './composer.ts'
import { COMPOSED_KIND_PREFIX, fingerprint } from './fingerprint.ts'
import { type LeadIns, leadInsFor } from './lead-ins.ts'
import { isSameQuestion, itemWords } from './near-duplicates.ts'
import type {
  Item,
  ItemsRequest,
  ItemsResult,
  QuestionWriter,
  SkillToAsk,
  SourceContext,
  WriterCatalogue,
} from './questions.ts'
import { SeededRandom } from './seeded.ts'

/** Writes items in English and Hindi without network access: from the bank, then composed from the catalogue. */
export class BuiltInWriter implements QuestionWriter {
  readonly kind = 'built-in'
  private readonly catalogue: WriterCatalogue
  private bank: Promise<Bank> | undefined

  constructor(catalogue: WriterCatalogue) {
    this.catalogue = catalogue
  }

  async writeItems(request: ItemsRequest): Promise<ItemsResult> {
    const bank = await this.openBank()
    const items: Item[] = []
    const incompleteSkills: number[] = []
    const questionSet = new QuestionSet()
    for (const { skill, count, avoid = [] } of request.skills) {
      request.signal?.throwIfAborted()
      const skillItems = new SkillItems(this.catalogue, bank.itemsOf(skill.number), skill, request, questionSet)
      const writtenItems = skillItems.write(count, avoid)
      if (writtenItems.length < count) incompleteSkills.push(skill.number)
      items.push(...writtenItems)
      // Composing takes milliseconds per skill; let pending work run first.
      if (request.skills.length > 1) await setImmediate()
    }
    return { items, incompleteSkills }
  }

  async translate(): Promise<undefined> {
    return undefined
  }

  private openBank(): Promise<Bank> {
    this.bank ??= Bank.read().catch((error) => {
      this.bank = undefined
      throw error
    })
    return this.bank
  }
}

/** Questions already used in one request, to reject near-duplicates. */
class QuestionSet {
  private readonly usedItemWords: ReturnType<typeof itemWords>[] = []

  /** Adds an item unless a near-duplicate was added before. */
  addIfNew(stem: string, options: readonly string[]): boolean {
    const newItemWords = itemWords({ stem, options })
    if (this.usedItemWords.some((usedWords) => isSameQuestion(newItemWords, usedWords))) return false
    this.usedItemWords.push(newItemWords)
    return true
  }
}

/** Preferred order of difficulties, so that three items have one of each. */
const DIFFICULTY_MIX = [2, 1, 3] as const

/** Selects the items of one skill. */
class SkillItems {
  private readonly catalogue: WriterCatalogue
  private readonly bankItems: BankItemWithId[]
  private readonly skill: SkillToAsk
  private readonly context: SourceContext
  private readonly language: Language
  private readonly random: SeededRandom
  private readonly questionSet: QuestionSet
  private readonly leadInsByLanguage = new Map<Language, LeadIns>()
  private leadInCount = 0

  constructor(
    catalogue: WriterCatalogue,
    bankItems: BankItemWithId[],
    skill: SkillToAsk,
    { context, language, seed }: ItemsRequest,
    questionSet: QuestionSet,
  ) {
    this.catalogue = catalogue
    this.skill = skill
    this.context = context
    this.questionSet = questionSet
    this.language = language === 'hi' ? 'hi' : 'en'
    this.random = new SeededRandom(`${seed} ${skill.number}`)
    this.bankItems = this.random.shuffled(bankItems)
  }

  write(count: number, avoid: string[]): Item[] {
    const lastSeenByFingerprint = new Map(avoid.map((seenFingerprint, index) => [seenFingerprint, index]))
    const writtenItems: Item[] = []
    const usedFingerprints = new Set<string>()
    const seenItems: { item: Item; lastSeen: number }[] = []
    /** Items with a less specific lead-in, because a more specific one would reveal the key. */
    const distantCandidates: CheckedCandidate[] = []
    /** Items that repeat a key with other distractors, for skills with little catalogue data. */
    const itemsWithRepeatedKey: Item[] = []
    const tryAdd = (candidate: CheckedCandidate | undefined): boolean => {
      if (!candidate) return false
      const { item, distance } = candidate
      const itemFingerprint = fingerprint(item)
      if (usedFingerprints.has(itemFingerprint)) {
        itemsWithRepeatedKey.push(item)
        return false
      }
      const lastSeen = lastSeenByFingerprint.get(itemFingerprint)
      if (lastSeen !== undefined) {
        seenItems.push({ item, lastSeen })
        return false
      }
      if (distance > 0) {
        distantCandidates.push(candidate)
        return false
      }
      usedFingerprints.add(itemFingerprint)
      writtenItems.push(item)
      return true
    }
    const addUntilFull = (items: Item[]) => {
      for (const item of items) {
        if (writtenItems.length === count) return
        const itemFingerprint = fingerprint(item)
        if (usedFingerprints.has(itemFingerprint)) continue
        usedFingerprints.add(itemFingerprint)
        writtenItems.push(item)
      }
    }

    const remainingItems = [...this.bankItems]
    for (let addedCount = 0; writtenItems.length < count && remainingItems.length > 0; ) {
      const preferredDifficulty = DIFFICULTY_MIX[addedCount % DIFFICULTY_MIX.length]
      const preferredIndex = remainingItems.findIndex(({ difficulty }) => difficulty === preferredDifficulty)
      const [item] = remainingItems.splice(Math.max(preferredIndex, 0), 1)
      if (tryAdd(this.fromBank(item!))) addedCount++
    }
    if (writtenItems.length < count) {
      for (const candidate of this.composeCandidates()) {
        tryAdd(candidate)
        if (writtenItems.length === count) break
      }
    }
    addUntilFull(distantCandidates.sort((a, b) => a.distance - b.distance).map(({ item }) => item))
    addUntilFull(seenItems.sort((a, b) => a.lastSeen - b.lastSeen).map(({ item }) => item))
    writtenItems.push(...itemsWithRepeatedKey.slice(0, count - writtenItems.length))
    return writtenItems.sort((a, b) => a.difficulty - b.difficulty)
  }

  private fromBank({ id, kind, difficulty, wordings }: BankItemWithId): CheckedCandidate | undefined {
    const language = wordings.has(this.language) ? this.language : 'en'
    const { stem, options, key } = wordings.get(language)!
    const item = { skill: this.skill.number, kind, difficulty, bankId: id, language }
    return this.finish(item, stem, options, key)
  }

  private *composeCandidates(): Generator<CheckedCandidate | undefined> {
    const { language } = this
    const leadInNamesSkill = this.leadIns(language).length > 0
    const composer = new Composer(this.catalogue, this.skill, this.random)
    for (const { kind, difficulty, stem, key, distractors } of composer.drafts(language, leadInNamesSkill)) {
      const item = { skill: this.skill.number, kind: `${COMPOSED_KIND_PREFIX}${kind}`, difficulty, language }
      yield this.finish(item, stem, [key, ...distractors], 0)
    }
  }

  /** Adds the lead-in, runs the checks and shuffles the options. Returns undefined if a check fails. */
  private finish(
    base: Omit<Item, 'stem' | 'options' | 'key'>,
    stem: string,
    options: readonly string[],
    key: number,
  ): CheckedCandidate | undefined {
    const leadIns = this.leadIns(base.language)
    const passesChecks = (about: string) =>
      checkItem({ stem, options, key, language: base.language, about }).length === 0
    const leadIn = leadIns.length > 0 ? leadIns.find(({ text }) => passesChecks(text)) : NO_LEAD_IN
    if (!leadIn || (leadIn === NO_LEAD_IN && !passesChecks(this.skill.name))) return undefined
    if (!this.questionSet.addIfNew(stem, options)) return undefined
    const order = this.random.shuffled([0, 1, 2, 3])
    const item: Item = {
      ...base,
      stem: leadIn.text ? `${leadIn.text} ${stem}` : stem,
      options: order.map((index) => options[index]!) as Item['options'],
      key: order.indexOf(key) as Item['key'],
    }
    return { item, distance: leadIn.distance }
  }

  /** Returns the lead-ins, specific ones first. Each call starts with another specific one. */
  private leadIns(language: Language): ChosenLeadIn[] {
    let leadIns = this.leadInsByLanguage.get(language)
    if (!leadIns) {
      leadIns = leadInsFor(this.skill.name, this.context, language, this.random)
      this.leadInsByLanguage.set(language, leadIns)
    }
    const firstIndex = this.leadInCount++ % Math.max(1, leadIns.best.length)
    const withDistance = (distance: number) => (text: string) => ({ text, distance })
    return [
      ...[...leadIns.best.slice(firstIndex), ...leadIns.best.slice(0, firstIndex)].map(withDistance(0)),
      ...leadIns.general.map(withDistance(1)),
      ...leadIns.bare.map(withDistance(2)),
    ]
  }
}

interface ChosenLeadIn {
  text: string
  /** Distance from the person's own work: 0 if the lead-in identifies that work, 1 if it is general, 2 if it contains no names. */
  distance: number
}

const NO_LEAD_IN: ChosenLeadIn = { text: '', distance: 0 }

interface CheckedCandidate {
  item: Item
  distance: number
}
