import type { SnapshotSkill, SubSkill } from '../catalogue/snapshot.ts'
import { type ComposedKind, stemsFor } from './composed-stems.ts'
import { type Neighbourhood, neighbourhoodOf } from './neighbourhood.ts'
import { capitalise, grammaticalForm, isDistinctSynonym, revealsName, shareNoContentWord } from './phrases.ts'
import type { SkillToAsk, WriterCatalogue } from './questions.ts'
import type { SeededRandom } from './seeded.ts'
import { contentWords, foldText, visibleLength } from './text.ts'

/** An unchecked item composed from the catalogue, for a skill without bank items. The key comes first. */
export interface ItemDraft {
  kind: ComposedKind
  difficulty: 1 | 2 | 3
  stem: string
  key: string
  distractors: [string, string, string]
}

/** A key and the sources of distractors for it, nearest first. */
interface QuestionSource {
  kind: ComposedKind
  difficulty: 1 | 2 | 3
  key: string
  distractorSources: DistractorSource[]
  /** The field or trade that the stem names. */
  fieldOrTrade?: string
}

/** Returns candidate texts and the number of the skill or group that they belong to, or undefined if they cannot be distractors. */
type DistractorSource = () => { number: number; texts: readonly string[] } | undefined

/** Maximum number of texts drawn from one source for the distractors of a key. */
const MAX_DRAWS_PER_SOURCE = 80
/** Allowed length ratios of distractors to the key, used in turn so that the key is not always of medium length. */
const LENGTH_RATIOS: readonly (readonly [shortest: number, longest: number])[] = [
  [0.72, 1.06],
  [0.74, 1.35],
  [0.94, 1.38],
]
/** For a key of fewer characters than this, distractors are compared by difference in length, not by ratio. */
const SHORT_KEY_LENGTH = 16
/** Maximum difference in characters between a short key and a distractor. */
const MAX_SHORT_KEY_DIFFERENCE = 4
/** Maximum number of related skills to read; imported catalogues can have thousands. */
const MAX_NEIGHBOURS = 120
/** Number of times that each key is used, with new distractors each time. */
const DRAFT_ROUNDS = 5
/** A skill with fewer siblings also gets questions about its field and its trade. */
const MIN_SIBLINGS = 3
/** Maximum ratio of shared content words to the words of the shorter option; above it, two options mean the same. */
const MAX_SHARED_WORD_RATIO = 0.5

export class Composer {
  private readonly skill: SkillToAsk
  private readonly catalogueSkill: SnapshotSkill | undefined
  private readonly neighbourhood: Neighbourhood
  private readonly random: SeededRandom
  /** Content words of the skill's name. */
  private readonly nameWords: ReadonlySet<string>
  /** Content words of the skill's description, name and aliases. */
  private readonly skillWords: ReadonlySet<string>
  /** Texts that must not be distractors, because they would be correct too. */
  private readonly ownNames: readonly string[]
  /** Skills of the same sub-skill, including this one. */
  private readonly siblings: readonly SnapshotSkill[]
  private readonly tradeSkills: readonly SnapshotSkill[]
  /** Three lists of skills of other trades: of the nearest trades, of several more, of all. */
  private readonly otherTrades: readonly (readonly SnapshotSkill[])[]
  /** The index of the next stem, by kind of question. */
  private readonly nextStems = new Map<ComposedKind, number>()

  constructor(catalogue: WriterCatalogue, skill: SkillToAsk, random: SeededRandom) {
    this.skill = skill
    this.catalogueSkill = catalogue.current.skill(skill.number)
    this.neighbourhood = neighbourhoodOf(catalogue.current)
    this.random = random
    this.ownNames = [skill.name, ...(this.catalogueSkill?.aliases ?? [])].map(foldText)
    this.nameWords = contentWords(skill.name)
    this.skillWords = contentWords([skill.description, ...this.ownNames].join(' '))
    const ownSubSkill = this.catalogueSkill?.sub
    this.siblings = ownSubSkill ? this.neighbourhood.ofSub(ownSubSkill.number) : []
    this.tradeSkills = ownSubSkill ? this.neighbourhood.ofMaster(ownSubSkill.master.number) : []
    const relatedTrades = ownSubSkill
      ? [
          this.neighbourhood.nearestTo(ownSubSkill.master.number),
          this.neighbourhood.relatedTo(ownSubSkill.master.number),
        ]
      : []
    this.otherTrades = [...relatedTrades, this.neighbourhood.allSkills]
  }

  /**
   * Yields drafts, the most specific kinds first; then, for a skill with little data, the same keys with other distractors.
   * If `leadInNamesSkill`, the stems do not repeat the name of the skill.
   */
  *drafts(language: string, leadInNamesSkill: boolean): Generator<ItemDraft> {
    for (let round = 0; round < DRAFT_ROUNDS; round++) {
      for (const { kind, difficulty, key, distractorSources, fieldOrTrade } of this.questions()) {
        // A key that shares a word with the skill's name would be revealed by it.
        if (!shareNoContentWord(this.nameWords, key) || revealsName(key, this.skill.name)) continue
        const distractors = this.distractorsFor(key, distractorSources)
        if (!distractors) continue
        const stems = stemsFor(kind, language, {
          skill: leadInNamesSkill ? undefined : this.skill.name,
          fieldOrTrade,
        })
        // Use the stems in turn, so that a stem is rarely repeated in a row.
        const stemIndex = this.nextStems.get(kind) ?? this.random.below(stems.length)
        this.nextStems.set(kind, stemIndex + 1)
        yield { kind, difficulty, stem: stems[stemIndex % stems.length]!, key, distractors }
      }
    }
  }

  /** Yields questions from the skill itself, then from its siblings, then from the other fields of its trade. */
  private *questions(): Generator<QuestionSource> {
    yield* interleave([this.parts(), this.aliases()])
    const ownSubSkill = this.catalogueSkill?.sub
    if (!ownSubSkill) return
    const otherSiblings = this.random
      .sample(this.siblings, MAX_NEIGHBOURS)
      .filter(({ number }) => number !== this.skill.number)
    if (otherSiblings.length < MIN_SIBLINGS)
      yield* interleave([this.relatedNames(otherSiblings), this.fields(ownSubSkill)])
    else
      yield* interleave([
        this.neighbours(otherSiblings, ownSubSkill.name),
        this.relatedNames(otherSiblings, ownSubSkill.name),
      ])
    const skillsOfOtherFields = this.random
      .sample(this.tradeSkills, MAX_NEIGHBOURS)
      .filter((tradeSkill) => tradeSkill.sub.number !== ownSubSkill.number)
    const fieldOrTrade = otherSiblings.length < MIN_SIBLINGS ? undefined : ownSubSkill.master.name
    if (fieldOrTrade)
      yield* interleave([
        this.neighbours(skillsOfOtherFields, fieldOrTrade),
        this.relatedNames(skillsOfOtherFields, fieldOrTrade),
      ])
    else yield* this.relatedNames(skillsOfOtherFields)
  }

  /** Questions from the skill's own description. */
  private *parts(): Generator<QuestionSource> {
    for (const forms of this.neighbourhood.tasksIn(this.skill.description)) {
      const key = forms.find((form) => shareNoContentWord(this.nameWords, form))
      const distractorSources = [
        this.tasks(this.tradeSkills, 'other field'),
        this.tasks(this.neighbourhood.allSkills, 'other trade'),
      ]
      if (key) yield { kind: 'part', difficulty: 2, key, distractorSources }
    }
  }

  /** Questions from aliases that are neither the name in another script nor a part of it. */
  private *aliases(): Generator<QuestionSource> {
    const distractorSources = [
      this.aliasesIn(this.siblings),
      this.aliasesIn(this.tradeSkills),
      this.aliasesIn(this.neighbourhood.allSkills),
    ]
    for (const key of this.random.shuffled(this.catalogueSkill?.aliases ?? [])) {
      if (isDistinctSynonym(key, this.skill.name)) yield { kind: 'alias', difficulty: 3, key, distractorSources }
    }
  }

  /** Questions from the descriptions of related skills. */
  private *neighbours(skills: readonly SnapshotSkill[], fieldOrTrade: string): Generator<QuestionSource> {
    const distractorSources = this.otherTrades.map((tradeSkills) => this.tasks(tradeSkills, 'other trade'))
    for (const { description } of skills) {
      const forms = this.random.pick(this.neighbourhood.tasksIn(description))
      const key = forms?.find((form) => shareNoContentWord(this.nameWords, form))
      if (key) yield { kind: 'neighbour', difficulty: 1, key, distractorSources, fieldOrTrade }
    }
  }

  /** Questions from the names of related skills. If the stem names their field, distractors come from other fields of the trade. */
  private *relatedNames(skills: readonly SnapshotSkill[], fieldOrTrade?: string): Generator<QuestionSource> {
    const namesOf = (sourceSkills: readonly SnapshotSkill[], distance: Distance): DistractorSource => {
      return () => {
        const pickedSkill = this.random.pick(sourceSkills)
        return !pickedSkill || this.isNear(pickedSkill, distance)
          ? undefined
          : { number: pickedSkill.number, texts: [capitalise(pickedSkill.name)] }
      }
    }
    const sourcesOfOtherTrades = this.otherTrades.map((tradeSkills) => namesOf(tradeSkills, 'other trade'))
    const isInField = fieldOrTrade !== undefined && fieldOrTrade === this.catalogueSkill?.sub.name
    const distractorSources = isInField
      ? [namesOf(this.tradeSkills, 'other field'), ...sourcesOfOtherTrades]
      : sourcesOfOtherTrades
    for (const { name } of skills) {
      const question = { difficulty: isInField ? 2 : 1, key: capitalise(name), distractorSources } as const
      yield fieldOrTrade === undefined ? { ...question, kind: 'lonely' } : { ...question, kind: 'beside', fieldOrTrade }
    }
  }

  /** Questions about the field (sub-skill) and the trade (master skill) that the skill belongs to. */
  private *fields(sub: SubSkill): Generator<QuestionSource> {
    const fieldsInTrade: DistractorSource = () => {
      const otherField = this.random.pick(this.tradeSkills)!.sub
      return otherField.number === sub.number
        ? undefined
        : { number: otherField.number, texts: [capitalise(otherField.name)] }
    }
    const fromOtherTrade = (pickName: (field: SubSkill) => { number: number; name: string }): DistractorSource => {
      return () => {
        const otherField = this.random.pick(this.neighbourhood.allSkills)!.sub
        if (otherField.master.number === sub.master.number) return undefined
        const { number, name } = pickName(otherField)
        return { number, texts: [capitalise(name)] }
      }
    }
    yield {
      kind: 'field',
      difficulty: 2,
      key: capitalise(sub.name),
      distractorSources: [fieldsInTrade, fromOtherTrade((field) => field)],
    }
    yield {
      kind: 'trade',
      difficulty: 1,
      key: capitalise(sub.master.name),
      distractorSources: [fromOtherTrade(({ master }) => master)],
    }
  }

  /** Returns a source of tasks of skills that are distant enough not to be correct for this one. */
  private tasks(sourceSkills: readonly SnapshotSkill[], distance: Distance): DistractorSource {
    return () => {
      const pickedSkill = this.random.pick(sourceSkills)
      if (!pickedSkill || this.isNear(pickedSkill, distance)) return undefined
      return {
        number: pickedSkill.number,
        texts: this.random.pick(this.neighbourhood.tasksIn(pickedSkill.description)) ?? [],
      }
    }
  }

  private aliasesIn(skills: readonly SnapshotSkill[]): DistractorSource {
    return () => {
      const pickedSkill = this.random.pick(skills)
      if (!pickedSkill || pickedSkill.number === this.skill.number) return undefined
      // An alias that resembles the skill's name may be correct too.
      return {
        number: pickedSkill.number,
        texts: pickedSkill.aliases.filter((alias) => isDistinctSynonym(alias, this.skill.name)),
      }
    }
  }

  /** Returns true if the skill is nearer than the distance. */
  private isNear({ number, sub }: SnapshotSkill, distance: Distance): boolean {
    if (number === this.skill.number) return true
    if (!this.catalogueSkill) return false
    const ownSubSkill = this.catalogueSkill.sub
    return distance === 'other field'
      ? sub.number === ownSubSkill.number
      : sub.master.number === ownSubSkill.master.number
  }

  /** Returns three distractors of the key's length and form, each from a different skill. */
  private distractorsFor(key: string, sources: DistractorSource[]): ItemDraft['distractors'] | undefined {
    const keyLength = visibleLength(key)
    const keyForm = grammaticalForm(key)
    const [shortest, longest] = this.random.pick(LENGTH_RATIOS)!
    const distractors: string[] = []
    const usedNumbers = new Set<number>()
    const optionWords = [contentWords(key)]
    const excludedTexts = new Set([foldText(key), ...this.ownNames])
    const fitsKey = (text: string) => {
      const textLength = visibleLength(text)
      const isLengthSimilar =
        keyLength < SHORT_KEY_LENGTH
          ? Math.abs(textLength - keyLength) <= MAX_SHORT_KEY_DIFFERENCE
          : textLength >= keyLength * shortest && textLength <= keyLength * longest
      return isLengthSimilar && grammaticalForm(text) === keyForm
    }
    for (const source of sources) {
      for (let attempt = 0; attempt < MAX_DRAWS_PER_SOURCE && distractors.length < 3; attempt++) {
        const drawnTexts = source()
        if (!drawnTexts || usedNumbers.has(drawnTexts.number)) continue
        const text = this.random.pick(drawnTexts.texts.filter(fitsKey))
        if (!text || excludedTexts.has(foldText(text))) continue
        const words = contentWords(text)
        // A text that shares a word with the skill may be correct too.
        if (
          countShared(words, this.skillWords) > 0 ||
          optionWords.some((usedWords) => isSimilarOption(words, usedWords))
        )
          continue
        distractors.push(text)
        optionWords.push(words)
        usedNumbers.add(drawnTexts.number)
      }
    }
    return distractors.length === 3 ? (distractors as ItemDraft['distractors']) : undefined
  }
}

const countShared = (a: ReadonlySet<string>, b: ReadonlySet<string>) => [...a].filter((word) => b.has(word)).length

/** Returns true if two options mean nearly the same. */
const isSimilarOption = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
  countShared(a, b) > MAX_SHARED_WORD_RATIO * Math.min(a.size, b.size)

/** Minimum distance of a distractor's skill from the skill of the question: another field (sub-skill) or another trade (master skill). */
type Distance = 'other field' | 'other trade'

/** Takes one question from each generator in turn until all are exhausted. */
function* interleave(generators: Generator<QuestionSource>[]): Generator<QuestionSource> {
  while (generators.length > 0) {
    for (const generator of [...generators]) {
      const { value, done } = generator.next()
      if (done) generators.splice(generators.indexOf(generator), 1)
      else yield value
    }
  }
}
