import type { Skill, SubSkill } from '../catalogue/snapshot.ts'
import { type ComposerName, stemsFor } from './composed-stems.ts'
import { type Neighbourhood, neighbourhoodOf } from './neighbourhood.ts'
import { areApart, capital, formOf, tasksOf } from './phrases.ts'
import type { CatalogueToAsk, SkillToAsk } from './questions.ts'
import type { Seeded } from './seeded.ts'
import { fold, lengthOf, tellingWordsOf } from './words.ts'

/** An item for a skill outside the bank, made of what the catalogue knows. The key stands first; it was not checked yet. */
export interface Draft {
  kind: ComposerName
  difficulty: 1 | 2 | 3
  stem: string
  key: string
  wrong: [string, string, string]
}

/** A right answer and where wrong ones for it may come from, the nearest place first. */
interface Question {
  kind: ComposerName
  difficulty: 1 | 2 | 3
  key: string
  wrongFrom: Source[]
}

/** Texts that a look at one place gives; empty where it may not serve. */
type Source = () => string[]

/** How many places are looked into for wrong options before an answer is given up. */
const LOOKS = 40
/** Wrong options may be this much shorter or longer than the key. */
const [SHORTER, LONGER] = [0.74, 1.35]
/** Skills beside this one that are looked at; imported catalogues have thousands in one place. */
const NEIGHBOURS = 120
/** Rounds through the answers, each among wrong options drawn anew. */
const ROUNDS = 5

export class Composer {
  private readonly skill: SkillToAsk
  private readonly known: Skill | undefined
  private readonly near: Neighbourhood
  private readonly chance: Seeded
  private readonly name: ReadonlySet<string>
  private readonly own: ReadonlySet<string>
  /** What an option must not be: it would be right as well. */
  private readonly ownNames: readonly string[]
  /** The sub-skill's, this one included. */
  private readonly siblings: readonly Skill[]
  private readonly trade: readonly Skill[]
  /** Skills of trades that speak of the same things. */
  private readonly related: readonly Skill[]

  constructor(catalogue: CatalogueToAsk, skill: SkillToAsk, chance: Seeded) {
    this.skill = skill
    this.known = catalogue.current.skill(skill.number)
    this.near = neighbourhoodOf(catalogue.current)
    this.chance = chance
    this.ownNames = [skill.name, ...(this.known?.aliases ?? [])].map(fold)
    this.name = tellingWordsOf(skill.name)
    this.own = tellingWordsOf([skill.description, ...this.ownNames].join(' '))
    const sub = this.known?.sub
    this.siblings = sub ? this.near.ofSub(sub.number) : []
    this.trade = sub ? this.near.ofMaster(sub.master.number) : []
    this.related = sub ? this.near.relatedTo(sub.master.number) : []
  }

  /**
   * Drafts, the most telling kinds first and mixed; then, for a skill of which little is known, the same answers among
   * other wrong ones. `leaned`: the skill is named before the stem.
   */
  *drafts(language: string, leaned: boolean): Generator<Draft> {
    for (let round = 0; round < ROUNDS; round++) {
      for (const { kind, difficulty, key, wrongFrom } of this.questions()) {
        // A key with a word of the skill's name would be betrayed by it.
        if (!areApart(this.name, key)) continue
        const wrong = this.wrongFor(key, wrongFrom)
        if (!wrong) continue
        const stems = stemsFor(kind, language, leaned ? undefined : this.skill.name)
        yield { kind, difficulty, stem: this.chance.pick(stems)!, key, wrong }
      }
    }
  }

  /** One of each kind in turn, then whatever is left; the rest of the trade last. */
  private *questions(): Generator<Question> {
    const near = this.chance.sample(this.siblings, NEIGHBOURS).filter(({ number }) => number !== this.skill.number)
    const kinds = [this.parts(), this.aliases(), this.neighbours(near), this.besides(near), this.fields()]
    while (kinds.length > 0) {
      for (const kind of [...kinds]) {
        const { value, done } = kind.next()
        if (done) kinds.splice(kinds.indexOf(kind), 1)
        else yield value
      }
    }
    const sub = this.known?.sub.number
    const farther = this.chance.sample(this.trade, NEIGHBOURS).filter((other) => other.sub.number !== sub)
    yield* this.neighbours(farther)
    yield* this.besides(farther)
  }

  /** What the skill's own description says is done. */
  private *parts(): Generator<Question> {
    for (const forms of tasksOf(this.skill.description, this.near.verbs)) {
      const key = forms.find((form) => areApart(this.name, form))
      const wrongFrom = [this.tasks(this.trade, 'other field'), this.tasks(this.near.all, 'other trade')]
      if (key) yield { kind: 'part', difficulty: 2, key, wrongFrom }
    }
  }

  /** What else it is called. */
  private *aliases(): Generator<Question> {
    const wrongFrom = [this.aliasesIn(this.siblings), this.aliasesIn(this.trade), this.aliasesIn(this.near.all)]
    for (const key of this.chance.shuffled(this.known?.aliases ?? []))
      yield { kind: 'alias', difficulty: 3, key, wrongFrom }
  }

  /** What is done in the skills beside it. */
  private *neighbours(skills: readonly Skill[]): Generator<Question> {
    const wrongFrom = [this.tasks(this.related, 'other trade'), this.tasks(this.near.all, 'other trade')]
    for (const { description } of skills) {
      const forms = this.chance.pick(tasksOf(description, this.near.verbs))
      const key = forms?.find((form) => areApart(this.name, form))
      if (key) yield { kind: 'neighbour', difficulty: 1, key, wrongFrom }
    }
  }

  /** The skills beside it by name. */
  private *besides(skills: readonly Skill[]): Generator<Question> {
    const names = (from: readonly Skill[]): Source => {
      return () => {
        const other = this.chance.pick(from)
        return !other || this.isNear(other, 'other trade') ? [] : [capital(other.name)]
      }
    }
    const wrongFrom = [names(this.related), names(this.near.all)]
    for (const { name } of skills) yield { kind: 'beside', difficulty: 1, key: capital(name), wrongFrom }
  }

  /** Where it stands in the catalogue. */
  private *fields(): Generator<Question> {
    const sub = this.known?.sub
    if (!sub) return
    const inTrade: Source = () => {
      const other = this.chance.pick(this.trade)!.sub
      return other.number === sub.number ? [] : [capital(other.name)]
    }
    const elsewhere = (nameOf: (other: SubSkill) => string): Source => {
      return () => {
        const other = this.chance.pick(this.near.all)!.sub
        return other.master.number === sub.master.number ? [] : [capital(nameOf(other))]
      }
    }
    yield { kind: 'field', difficulty: 2, key: capital(sub.name), wrongFrom: [inTrade, elsewhere(({ name }) => name)] }
    yield {
      kind: 'trade',
      difficulty: 1,
      key: capital(sub.master.name),
      wrongFrom: [elsewhere(({ master }) => master.name)],
    }
  }

  /** Tasks of skills at a distance from which they cannot be taken for this one's. */
  private tasks(from: readonly Skill[], distance: Distance): Source {
    return () => {
      const other = this.chance.pick(from)
      if (!other || this.isNear(other, distance)) return []
      return this.chance.pick(tasksOf(other.description, this.near.verbs)) ?? []
    }
  }

  private aliasesIn(skills: readonly Skill[]): Source {
    return () => {
      const other = this.chance.pick(skills)
      return !other || other.number === this.skill.number ? [] : other.aliases
    }
  }

  private isNear({ number, sub }: Skill, distance: Distance): boolean {
    if (number === this.skill.number) return true
    if (!this.known) return false
    const own = this.known.sub
    return distance === 'other field' ? sub.number === own.number : sub.master.number === own.master.number
  }

  private wrongFor(key: string, sources: Source[]): Draft['wrong'] | undefined {
    const length = lengthOf(key)
    const form = formOf(key)
    const wrong: string[] = []
    const taken = new Set([fold(key), ...this.ownNames])
    const fits = (text: string) => {
      const own = lengthOf(text)
      const near = Math.abs(own - length) <= 4 || (own >= length * SHORTER && own <= length * LONGER)
      return near && formOf(text) === form && !taken.has(fold(text))
    }
    for (const source of sources) {
      for (let look = 0; look < LOOKS && wrong.length < 3; look++) {
        const text = this.chance.pick(source().filter(fits))
        // One that shares a word with the skill may be right as well.
        if (!text || !areApart(this.own, text)) continue
        wrong.push(text)
        taken.add(fold(text))
      }
    }
    return wrong.length === 3 ? (wrong as Draft['wrong']) : undefined
  }
}

type Distance = 'other field' | 'other trade'
