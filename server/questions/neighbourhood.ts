import type { Skill } from '../catalogue/snapshot.ts'
import { tasksOf } from './phrases.ts'
import type { CatalogueToAsk } from './questions.ts'
import { tellingWordsOf } from './text.ts'

/** Which skills stand near which. Kept for one snapshot of the catalogue, made when first asked for. */
export interface Neighbourhood {
  all: readonly Skill[]
  /** Of the sub-skill with this number. */
  ofSub(number: number): readonly Skill[]
  ofMaster(number: number): readonly Skill[]
  /** Skills of the master skills that speak most of the same things as this one: of the two nearest, or of some more. */
  nearestTo(master: number): readonly Skill[]
  relatedTo(master: number): readonly Skill[]
  /** What a description says is done, each task with its shorter forms. */
  tasksIn(description: string): readonly string[][]
}

/** Trades that count as related, and how many skills of a trade are compared. */
const [NEAREST, RELATED] = [2, 4]
const TO_COMPARE = 60

const known = new WeakMap<object, Neighbourhood>()

export function neighbourhoodOf(snapshot: CatalogueToAsk['current']): Neighbourhood {
  const before = known.get(snapshot)
  if (before) return before
  const subs = new Map<number, Skill[]>()
  const masters = new Map<number, Skill[]>()
  /** Words that descriptions begin with: "joins", "sets", "checks". */
  const verbs = new Set<string>()
  const tasks = new Map<string, string[][]>()
  const vocabularies = new Map<number, Set<string>>()
  const related = new Map<number, Skill[][]>()
  for (const skill of snapshot.skills) {
    const verb = /^\p{L}+s(?= )/u.exec(skill.description)?.[0].toLowerCase()
    if (verb) verbs.add(verb)
    into(subs, skill.sub.number, skill)
    into(masters, skill.sub.master.number, skill)
  }
  const vocabularyOf = (master: number) => {
    let words = vocabularies.get(master)
    if (!words) {
      words = tellingWordsOf(
        masters
          .get(master)!
          .slice(0, TO_COMPARE)
          .map(({ name, description }) => `${name} ${description}`)
          .join(' '),
      )
      vocabularies.set(master, words)
    }
    return words
  }
  const findRelated = (master: number): Skill[][] => {
    if (!masters.has(master)) return []
    const own = vocabularyOf(master)
    return [...masters.keys()]
      .filter((other) => other !== master)
      .map((other) => ({ other, likeness: likeness(own, vocabularyOf(other)) }))
      .sort((a, b) => b.likeness - a.likeness)
      .slice(0, RELATED)
      .map(({ other }) => masters.get(other)!)
  }
  const relatedTo = (master: number): Skill[][] => {
    const found = related.get(master) ?? findRelated(master)
    related.set(master, found)
    return found
  }
  const made: Neighbourhood = {
    all: snapshot.skills,
    ofSub: (number) => subs.get(number) ?? [],
    ofMaster: (number) => masters.get(number) ?? [],
    nearestTo: (master) => relatedTo(master).slice(0, NEAREST).flat(),
    relatedTo: (master) => relatedTo(master).flat(),
    tasksIn(description) {
      const found = tasks.get(description) ?? tasksOf(description, verbs)
      tasks.set(description, found)
      return found
    },
  }
  known.set(snapshot, made)
  return made
}

function into(map: Map<number, Skill[]>, number: number, skill: Skill): void {
  const list = map.get(number)
  if (list) list.push(skill)
  else map.set(number, [skill])
}

/** Words in common, of as many as there could be with a vocabulary of that size: a wordy trade is not near to all others. */
function likeness(own: ReadonlySet<string>, others: ReadonlySet<string>): number {
  const shared = [...others].filter((word) => own.has(word)).length
  return shared / Math.sqrt(Math.max(1, others.size))
}
