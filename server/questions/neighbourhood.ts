import type { SnapshotSkill } from '../catalogue/snapshot.ts'
import { tasksOf } from './phrases.ts'
import type { QuestionCatalogue } from './questions.ts'
import { contentWords } from './text.ts'

/** Related skills. Built lazily, once per catalogue snapshot. */
export interface Neighbourhood {
  all: readonly SnapshotSkill[]
  /** Returns the skills of a sub-skill. */
  ofSub(number: number): readonly SnapshotSkill[]
  ofMaster(number: number): readonly SnapshotSkill[]
  /** Returns skills of the master skills with the most similar vocabulary: the two nearest, or several more. */
  nearestTo(master: number): readonly SnapshotSkill[]
  relatedTo(master: number): readonly SnapshotSkill[]
  /** Returns the tasks in a description, each with its shorter forms. */
  tasksIn(description: string): readonly string[][]
}

/** Number of nearest and of related trades (master skills), and of skills compared per trade. */
const NEAREST_TRADES = 2
const RELATED_TRADES = 4
const SKILLS_TO_COMPARE = 60

const neighbourhoods = new WeakMap<object, Neighbourhood>()

export function neighbourhoodOf(snapshot: QuestionCatalogue['current']): Neighbourhood {
  const cached = neighbourhoods.get(snapshot)
  if (cached) return cached
  const subs = new Map<number, SnapshotSkill[]>()
  const masters = new Map<number, SnapshotSkill[]>()
  /** First words of descriptions: "joins", "sets", "checks". */
  const verbs = new Set<string>()
  const tasks = new Map<string, string[][]>()
  const vocabularies = new Map<number, Set<string>>()
  const related = new Map<number, SnapshotSkill[][]>()
  for (const skill of snapshot.skills) {
    const verb = /^\p{L}+s(?= )/u.exec(skill.description)?.[0].toLowerCase()
    if (verb) verbs.add(verb)
    addTo(subs, skill.sub.number, skill)
    addTo(masters, skill.sub.master.number, skill)
  }
  const vocabularyOf = (master: number) => {
    let words = vocabularies.get(master)
    if (!words) {
      words = contentWords(
        masters
          .get(master)!
          .slice(0, SKILLS_TO_COMPARE)
          .map(({ name, description }) => `${name} ${description}`)
          .join(' '),
      )
      vocabularies.set(master, words)
    }
    return words
  }
  const findRelated = (master: number): SnapshotSkill[][] => {
    if (!masters.has(master)) return []
    const own = vocabularyOf(master)
    return [...masters.keys()]
      .filter((other) => other !== master)
      .map((other) => ({ other, similarity: vocabularySimilarity(own, vocabularyOf(other)) }))
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, RELATED_TRADES)
      .map(({ other }) => masters.get(other)!)
  }
  const relatedTo = (master: number): SnapshotSkill[][] => {
    const found = related.get(master) ?? findRelated(master)
    related.set(master, found)
    return found
  }
  const neighbourhood: Neighbourhood = {
    all: snapshot.skills,
    ofSub: (number) => subs.get(number) ?? [],
    ofMaster: (number) => masters.get(number) ?? [],
    nearestTo: (master) => relatedTo(master).slice(0, NEAREST_TRADES).flat(),
    relatedTo: (master) => relatedTo(master).flat(),
    tasksIn(description) {
      const found = tasks.get(description) ?? tasksOf(description, verbs)
      tasks.set(description, found)
      return found
    },
  }
  neighbourhoods.set(snapshot, neighbourhood)
  return neighbourhood
}

function addTo(map: Map<number, SnapshotSkill[]>, number: number, skill: SnapshotSkill): void {
  const list = map.get(number)
  if (list) list.push(skill)
  else map.set(number, [skill])
}

/** Shared words relative to the smaller vocabulary, so that a large vocabulary is not similar to every other. */
function vocabularySimilarity(own: ReadonlySet<string>, others: ReadonlySet<string>): number {
  const shared = [...others].filter((word) => own.has(word)).length
  return shared / Math.sqrt(Math.max(1, others.size))
}
