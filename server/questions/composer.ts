import type { Skill, SubSkill } from '../catalogue/snapshot.ts'
import { type ComposerName, stemsFor } from './composed-stems.ts'
import { type Neighbourhood, neighbourhoodOf } from './neighbourhood.ts'
import { areApart, capital, formOf, isAnotherWord, showsName } from './phrases.ts'
import type { CatalogueToAsk, SkillToAsk } from './questions.ts'
import type { Seeded } from './seeded.ts'
import { fold, lengthOf, tellingWordsOf } from './text.ts'

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
  /** The field or the trade, where the stem names it. */
  place?: string
}

/** Texts that a look at one place gives, and the number of what they belong to; undefined where it may not serve. */
type Source = () => { of: number; texts: readonly string[] } | undefined

/** How many places are looked into for wrong options before an answer is given up. */
const LOOKS = 80
/** Wrong options may be so much shorter and longer than the key; by turns, or the key would mostly be of middling length. */
const LENGTHS: readonly (readonly [shortest: number, longest: number])[] = [
  [0.72, 1.06],
  [0.74, 1.35],
  [0.94, 1.38],
]
/** Among short ones a few letters more or less do not show. */
const SHORT = 16
/** Skills beside this one that are looked at; imported catalogues have thousands in one place. */
const NEIGHBOURS = 120
/** Rounds through the answers, each among wrong options drawn anew. */
const ROUNDS = 5
/** With fewer skills beside it, a skill is also asked about by where it stands in the catalogue. */
const LONELY = 3
/** Of the telling words of the shorter of two options; beyond that they say the same twice. */
const MOST_SHARED = 0.5

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
  /** Skills of trades that speak of the same things: of the nearest, of some more, of all. */
  private readonly elsewhere: readonly (readonly Skill[])[]
  private readonly turns = new Map<ComposerName, number>()

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
    const others = sub ? [this.near.nearestTo(sub.master.number), this.near.relatedTo(sub.master.number)] : []
    this.elsewhere = [...others, this.near.all]
  }

  /**
   * Drafts, the most telling kinds first; then, for a skill of which little is known, the same answers among other wrong
   * ones. `leaned`: the skill is named before the stem.
   */
  *drafts(language: string, leaned: boolean): Generator<Draft> {
    for (let round = 0; round < ROUNDS; round++) {
      for (const { kind, difficulty, key, wrongFrom, place } of this.questions()) {
        // A key with a word of the skill's name would be betrayed by it.
        if (!areApart(this.name, key) || showsName(key, this.skill.name)) continue
        const wrong = this.wrongFor(key, wrongFrom)
        if (!wrong) continue
        const stems = stemsFor(kind, language, { skill: leaned ? undefined : this.skill.name, place })
        // By turns, so that one stem seldom comes twice in a row.
        const turn = this.turns.get(kind) ?? this.chance.below(stems.length)
        this.turns.set(kind, turn + 1)
        yield { kind, difficulty, stem: stems[turn % stems.length]!, key, wrong }
      }
    }
  }

  /** What is known of the skill itself, then of those beside it, then of the rest of the trade. */
  private *questions(): Generator<Question> {
    yield* byTurns([this.parts(), this.aliases()])
    const sub = this.known?.sub
    if (!sub) return
    const near = this.chance.sample(this.siblings, NEIGHBOURS).filter(({ number }) => number !== this.skill.number)
    if (near.length < LONELY) yield* byTurns([this.besides(near), this.fields(sub)])
    else yield* byTurns([this.neighbours(near, sub.name), this.besides(near, sub.name)])
    const farther = this.chance.sample(this.trade, NEIGHBOURS).filter((other) => other.sub.number !== sub.number)
    const place = near.length < LONELY ? undefined : sub.master.name
    if (place) yield* byTurns([this.neighbours(farther, place), this.besides(farther, place)])
    else yield* this.besides(farther)
  }

  /** What the skill's own description says is done. */
  private *parts(): Generator<Question> {
    for (const forms of this.near.tasksIn(this.skill.description)) {
      const key = forms.find((form) => areApart(this.name, form))
      const wrongFrom = [this.tasks(this.trade, 'other field'), this.tasks(this.near.all, 'other trade')]
      if (key) yield { kind: 'part', difficulty: 2, key, wrongFrom }
    }
  }

  /** What else it is called, unless that is its name in another script or a piece of it. */
  private *aliases(): Generator<Question> {
    const wrongFrom = [this.aliasesIn(this.siblings), this.aliasesIn(this.trade), this.aliasesIn(this.near.all)]
    for (const key of this.chance.shuffled(this.known?.aliases ?? [])) {
      if (isAnotherWord(key, this.skill.name)) yield { kind: 'alias', difficulty: 3, key, wrongFrom }
    }
  }

  /** What is done in the skills beside it. */
  private *neighbours(skills: readonly Skill[], place: string): Generator<Question> {
    const wrongFrom = this.elsewhere.map((from) => this.tasks(from, 'other trade'))
    for (const { description } of skills) {
      const forms = this.chance.pick(this.near.tasksIn(description))
      const key = forms?.find((form) => areApart(this.name, form))
      if (key) yield { kind: 'neighbour', difficulty: 1, key, wrongFrom, place }
    }
  }

  /** The skills beside it by name. Where the stem names their field, wrong ones come from other fields of the trade. */
  private *besides(skills: readonly Skill[], place?: string): Generator<Question> {
    const names = (from: readonly Skill[], distance: Distance): Source => {
      return () => {
        const other = this.chance.pick(from)
        return !other || this.isNear(other, distance) ? undefined : { of: other.number, texts: [capital(other.name)] }
      }
    }
    const elsewhere = this.elsewhere.map((from) => names(from, 'other trade'))
    const inField = place !== undefined && place === this.known?.sub.name
    const wrongFrom = inField ? [names(this.trade, 'other field'), ...elsewhere] : elsewhere
    for (const { name } of skills) {
      const question = { difficulty: inField ? 2 : 1, key: capital(name), wrongFrom } as const
      yield place === undefined ? { ...question, kind: 'lonely' } : { ...question, kind: 'beside', place }
    }
  }

  /** Where it stands in the catalogue. */
  private *fields(sub: SubSkill): Generator<Question> {
    const inTrade: Source = () => {
      const other = this.chance.pick(this.trade)!.sub
      return other.number === sub.number ? undefined : { of: other.number, texts: [capital(other.name)] }
    }
    const elsewhere = (named: (other: SubSkill) => { number: number; name: string }): Source => {
      return () => {
        const other = this.chance.pick(this.near.all)!.sub
        if (other.master.number === sub.master.number) return undefined
        const { number, name } = named(other)
        return { of: number, texts: [capital(name)] }
      }
    }
    yield { kind: 'field', difficulty: 2, key: capital(sub.name), wrongFrom: [inTrade, elsewhere((other) => other)] }
    yield {
      kind: 'trade',
      difficulty: 1,
      key: capital(sub.master.name),
      wrongFrom: [elsewhere(({ master }) => master)],
    }
  }

  /** Tasks of skills at a distance from which they cannot be taken for this one's. */
  private tasks(from: readonly Skill[], distance: Distance): Source {
    return () => {
      const other = this.chance.pick(from)
      if (!other || this.isNear(other, distance)) return undefined
      return { of: other.number, texts: this.chance.pick(this.near.tasksIn(other.description)) ?? [] }
    }
  }

  private aliasesIn(skills: readonly Skill[]): Source {
    return () => {
      const other = this.chance.pick(skills)
      if (!other || other.number === this.skill.number) return undefined
      // One with a word of the skill's name may be right as well.
      return { of: other.number, texts: other.aliases.filter((alias) => isAnotherWord(alias, this.skill.name)) }
    }
  }

  private isNear({ number, sub }: Skill, distance: Distance): boolean {
    if (number === this.skill.number) return true
    if (!this.known) return false
    const own = this.known.sub
    return distance === 'other field' ? sub.number === own.number : sub.master.number === own.master.number
  }

  /** Three of the key's length and form, each of something else. */
  private wrongFor(key: string, sources: Source[]): Draft['wrong'] | undefined {
    const length = lengthOf(key)
    const form = formOf(key)
    const [shortest, longest] = this.chance.pick(LENGTHS)!
    const wrong: string[] = []
    const used = new Set<number>()
    const said = [tellingWordsOf(key)]
    const taken = new Set([fold(key), ...this.ownNames])
    const fits = (text: string) => {
      const own = lengthOf(text)
      const near = length < SHORT ? Math.abs(own - length) <= 4 : own >= length * shortest && own <= length * longest
      return near && formOf(text) === form
    }
    for (const source of sources) {
      for (let look = 0; look < LOOKS && wrong.length < 3; look++) {
        const found = source()
        if (!found || used.has(found.of)) continue
        const text = this.chance.pick(found.texts.filter(fits))
        if (!text || taken.has(fold(text))) continue
        const words = tellingWordsOf(text)
        // One that shares a word with the skill may be right as well.
        if (shared(words, this.own) > 0 || said.some((other) => isLike(words, other))) continue
        wrong.push(text)
        said.push(words)
        used.add(found.of)
      }
    }
    return wrong.length === 3 ? (wrong as Draft['wrong']) : undefined
  }
}

const shared = (a: ReadonlySet<string>, b: ReadonlySet<string>) => [...a].filter((word) => b.has(word)).length

/** Whether two options say nearly the same. */
const isLike = (a: ReadonlySet<string>, b: ReadonlySet<string>) => shared(a, b) > MOST_SHARED * Math.min(a.size, b.size)

type Distance = 'other field' | 'other trade'

/** One of each in turn, then whatever is left. */
function* byTurns(kinds: Generator<Question>[]): Generator<Question> {
  while (kinds.length > 0) {
    for (const kind of [...kinds]) {
      const { value, done } = kind.next()
      if (done) kinds.splice(kinds.indexOf(kind), 1)
      else yield value
    }
  }
}
