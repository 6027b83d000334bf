import type { SnapshotSkill, SubSkill } from '../catalogue/snapshot.ts'
import { type ComposerName, stemsFor } from './composed-stems.ts'
import { type Neighbourhood, neighbourhoodOf } from './neighbourhood.ts'
import { capitalise, grammaticalForm, isDistinctSynonym, revealsName, shareNoContentWord } from './phrases.ts'
import type { QuestionCatalogue, SkillToAsk } from './questions.ts'
import type { SeededRandom } from './seeded.ts'
import { contentWords, foldText, visibleLength } from './text.ts'

/** An unchecked item composed from the catalogue, for a skill without bank items. The key comes first. */
export interface ItemDraft {
  kind: ComposerName
  difficulty: 1 | 2 | 3
  stem: string
  key: string
  distractors: [string, string, string]
}

/** A key and the sources of distractors for it, nearest first. */
interface Question {
  kind: ComposerName
  difficulty: 1 | 2 | 3
  key: string
  distractorSources: Source[]
  /** The field or trade that the stem names. */
  fieldOrTrade?: string
}

/** Returns candidate texts and the number of the skill or group that they belong to, or undefined if they cannot be distractors. */
type Source = () => { number: number; texts: readonly string[] } | undefined

/** Maximum number of texts drawn from one source for the distractors of a key. */
const MAX_DRAWS_PER_SOURCE = 80
/** Allowed length ratios of distractors to the key, used in turn so that the key is not always of medium length. */
const LENGTH_RATIOS: readonly (readonly [shortest: number, longest: number])[] = [
  [0.72, 1.06],
  [0.74, 1.35],
  [0.94, 1.38],
]
/** Below this length, small differences are not noticeable. */
const SHORT_OPTION_LENGTH = 16
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
  private readonly near: Neighbourhood
  private readonly random: SeededRandom
  /** Content words of the skill's name. */
  private readonly nameWords: ReadonlySet<string>
  /** Content words of the skill's description, name and aliases. */
  private readonly skillWords: ReadonlySet<string>
  /** Texts that must not be distractors, because they would be correct too. */
  private readonly ownNames: readonly string[]
  /** Skills of the same sub-skill, including this one. */
  private readonly siblings: readonly SnapshotSkill[]
  private readonly trade: readonly SnapshotSkill[]
  /** Skills of related trades: the nearest, several more, all. */
  private readonly otherTrades: readonly (readonly SnapshotSkill[])[]
  /** By kind: the number of the next stem. */
  private readonly nextStems = new Map<ComposerName, number>()

  constructor(catalogue: QuestionCatalogue, skill: SkillToAsk, random: SeededRandom) {
    this.skill = skill
    this.catalogueSkill = catalogue.current.skill(skill.number)
    this.near = neighbourhoodOf(catalogue.current)
    this.random = random
    this.ownNames = [skill.name, ...(this.catalogueSkill?.aliases ?? [])].map(foldText)
    this.nameWords = contentWords(skill.name)
    this.skillWords = contentWords([skill.description, ...this.ownNames].join(' '))
    const sub = this.catalogueSkill?.sub
    this.siblings = sub ? this.near.ofSub(sub.number) : []
    this.trade = sub ? this.near.ofMaster(sub.master.number) : []
    const others = sub ? [this.near.nearestTo(sub.master.number), this.near.relatedTo(sub.master.number)] : []
    this.otherTrades = [...others, this.near.all]
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

  /** Yields questions from the skill itself, then from its siblings, then from the rest of the trade. */
  private *questions(): Generator<Question> {
    yield* interleave([this.parts(), this.aliases()])
    const sub = this.catalogueSkill?.sub
    if (!sub) return
    const near = this.random.sample(this.siblings, MAX_NEIGHBOURS).filter(({ number }) => number !== this.skill.number)
    if (near.length < MIN_SIBLINGS) yield* interleave([this.relatedNames(near), this.fields(sub)])
    else yield* interleave([this.neighbours(near, sub.name), this.relatedNames(near, sub.name)])
    const farther = this.random.sample(this.trade, MAX_NEIGHBOURS).filter((other) => other.sub.number !== sub.number)
    const fieldOrTrade = near.length < MIN_SIBLINGS ? undefined : sub.master.name
    if (fieldOrTrade)
      yield* interleave([this.neighbours(farther, fieldOrTrade), this.relatedNames(farther, fieldOrTrade)])
    else yield* this.relatedNames(farther)
  }

  /** Questions from the skill's own description. */
  private *parts(): Generator<Question> {
    for (const forms of this.near.tasksIn(this.skill.description)) {
      const key = forms.find((form) => shareNoContentWord(this.nameWords, form))
      const distractorSources = [this.tasks(this.trade, 'other field'), this.tasks(this.near.all, 'other trade')]
      if (key) yield { kind: 'part', difficulty: 2, key, distractorSources }
    }
  }

  /** Questions from aliases that are neither the name in another script nor a part of it. */
  private *aliases(): Generator<Question> {
    const distractorSources = [this.aliasesIn(this.siblings), this.aliasesIn(this.trade), this.aliasesIn(this.near.all)]
    for (const key of this.random.shuffled(this.catalogueSkill?.aliases ?? [])) {
      if (isDistinctSynonym(key, this.skill.name)) yield { kind: 'alias', difficulty: 3, key, distractorSources }
    }
  }

  /** Questions from the descriptions of related skills. */
  private *neighbours(skills: readonly SnapshotSkill[], fieldOrTrade: string): Generator<Question> {
    const distractorSources = this.otherTrades.map((from) => this.tasks(from, 'other trade'))
    for (const { description } of skills) {
      const forms = this.random.pick(this.near.tasksIn(description))
      const key = forms?.find((form) => shareNoContentWord(this.nameWords, form))
      if (key) yield { kind: 'neighbour', difficulty: 1, key, distractorSources, fieldOrTrade }
    }
  }

  /** Questions from the names of related skills. If the stem names their field, distractors come from other fields of the trade. */
  private *relatedNames(skills: readonly SnapshotSkill[], fieldOrTrade?: string): Generator<Question> {
    const names = (from: readonly SnapshotSkill[], distance: Distance): Source => {
      return () => {
        const other = this.random.pick(from)
        return !other || this.isNear(other, distance)
          ? undefined
          : { number: other.number, texts: [capitalise(other.name)] }
      }
    }
    const fromOtherTrades = this.otherTrades.map((from) => names(from, 'other trade'))
    const inField = fieldOrTrade !== undefined && fieldOrTrade === this.catalogueSkill?.sub.name
    const distractorSources = inField ? [names(this.trade, 'other field'), ...fromOtherTrades] : fromOtherTrades
    for (const { name } of skills) {
      const question = { difficulty: inField ? 2 : 1, key: capitalise(name), distractorSources } as const
      yield fieldOrTrade === undefined ? { ...question, kind: 'lonely' } : { ...question, kind: 'beside', fieldOrTrade }
    }
  }

  /** Questions about the field (sub-skill) and the trade (master skill) that the skill belongs to. */
  private *fields(sub: SubSkill): Generator<Question> {
    const inTrade: Source = () => {
      const other = this.random.pick(this.trade)!.sub
      return other.number === sub.number ? undefined : { number: other.number, texts: [capitalise(other.name)] }
    }
    const fromOtherTrade = (named: (other: SubSkill) => { number: number; name: string }): Source => {
      return () => {
        const other = this.random.pick(this.near.all)!.sub
        if (other.master.number === sub.master.number) return undefined
        const { number, name } = named(other)
        return { number, texts: [capitalise(name)] }
      }
    }
    yield {
      kind: 'field',
      difficulty: 2,
      key: capitalise(sub.name),
      distractorSources: [inTrade, fromOtherTrade((other) => other)],
    }
    yield {
      kind: 'trade',
      difficulty: 1,
      key: capitalise(sub.master.name),
      distractorSources: [fromOtherTrade(({ master }) => master)],
    }
  }

  /** Tasks of skills that are distant enough not to be correct for this one. */
  private tasks(from: readonly SnapshotSkill[], distance: Distance): Source {
    return () => {
      const other = this.random.pick(from)
      if (!other || this.isNear(other, distance)) return undefined
      return { number: other.number, texts: this.random.pick(this.near.tasksIn(other.description)) ?? [] }
    }
  }

  private aliasesIn(skills: readonly SnapshotSkill[]): Source {
    return () => {
      const other = this.random.pick(skills)
      if (!other || other.number === this.skill.number) return undefined
      // An alias that resembles the skill's name may be correct too.
      return { number: other.number, texts: other.aliases.filter((alias) => isDistinctSynonym(alias, this.skill.name)) }
    }
  }

  private isNear({ number, sub }: SnapshotSkill, distance: Distance): boolean {
    if (number === this.skill.number) return true
    if (!this.catalogueSkill) return false
    const own = this.catalogueSkill.sub
    return distance === 'other field' ? sub.number === own.number : sub.master.number === own.master.number
  }

  /** Returns three distractors of the key's length and form, each from a different skill. */
  private distractorsFor(key: string, sources: Source[]): ItemDraft['distractors'] | undefined {
    const length = visibleLength(key)
    const form = grammaticalForm(key)
    const [shortest, longest] = this.random.pick(LENGTH_RATIOS)!
    const distractors: string[] = []
    const used = new Set<number>()
    const optionWords = [contentWords(key)]
    const taken = new Set([foldText(key), ...this.ownNames])
    const fits = (text: string) => {
      const own = visibleLength(text)
      const near =
        length < SHORT_OPTION_LENGTH ? Math.abs(own - length) <= 4 : own >= length * shortest && own <= length * longest
      return near && grammaticalForm(text) === form
    }
    for (const source of sources) {
      for (let attempt = 0; attempt < MAX_DRAWS_PER_SOURCE && distractors.length < 3; attempt++) {
        const found = source()
        if (!found || used.has(found.number)) continue
        const text = this.random.pick(found.texts.filter(fits))
        if (!text || taken.has(foldText(text))) continue
        const words = contentWords(text)
        // A text that shares a word with the skill may be correct too.
        if (countShared(words, this.skillWords) > 0 || optionWords.some((other) => isSimilarOption(words, other)))
          continue
        distractors.push(text)
        optionWords.push(words)
        used.add(found.number)
      }
    }
    return distractors.length === 3 ? (distractors as ItemDraft['distractors']) : undefined
  }
}

const countShared = (a: ReadonlySet<string>, b: ReadonlySet<string>) => [...a].filter((word) => b.has(word)).length

/** Returns true if two options mean nearly the same. */
const isSimilarOption = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
  countShared(a, b) > MAX_SHARED_WORD_RATIO * Math.min(a.size, b.size)

type Distance = 'other field' | 'other trade'

/** Interleaves the lists, then appends the remainder. */
function* interleave(kinds: Generator<Question>[]): Generator<Question> {
  while (kinds.length > 0) {
    for (const kind of [...kinds]) {
      const { value, done } = kind.next()
      if (done) kinds.splice(kinds.indexOf(kind), 1)
      else yield value
    }
  }
}
