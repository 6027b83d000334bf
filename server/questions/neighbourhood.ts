import type { SnapshotSkill } from '../catalogue/snapshot.ts'
import { tasksOf } from './phrases.ts'
import type { WriterCatalogue } from './questions.ts'
import { contentWords } from './text.ts'

/** Related skills. Built lazily, once per catalogue snapshot. */
export interface Neighbourhood {
  allSkills: readonly SnapshotSkill[]
  /** Returns the skills of a sub-skill. */
  ofSub(number: number): readonly SnapshotSkill[]
  ofMaster(number: number): readonly SnapshotSkill[]
  /** Returns the skills of the `MAX_NEAREST_TRADES` master skills with the most similar vocabulary. */
  nearestTo(master: number): readonly SnapshotSkill[]
  /** Returns the skills of the `MAX_RELATED_TRADES` master skills with the most similar vocabulary. */
  relatedTo(master: number): readonly SnapshotSkill[]
  /** Returns the tasks in a description, each with its shorter forms. */
  tasksIn(description: string): readonly string[][]
}

/** Number of nearest and of related trades (master skills), and of skills compared per trade. */
const MAX_NEAREST_TRADES = 2
const MAX_RELATED_TRADES = 4
const MAX_COMPARED_SKILLS = 60

const neighbourhoods = new WeakMap<object, Neighbourhood>()

export function neighbourhoodOf(snapshot: WriterCatalogue['current']): Neighbourhood {
  const cachedNeighbourhood = neighbourhoods.get(snapshot)
  if (cachedNeighbourhood) return cachedNeighbourhood
  const skillsBySub = new Map<number, SnapshotSkill[]>()
  const skillsByMaster = new Map<number, SnapshotSkill[]>()
  /** First words of descriptions: "joins", "sets", "checks". */
  const verbs = new Set<string>()
  const tasksByDescription = new Map<string, string[][]>()
  const vocabularyByMaster = new Map<number, Set<string>>()
  const relatedByMaster = new Map<number, SnapshotSkill[][]>()
  for (const skill of snapshot.skills) {
    const verb = /^\p{L}+s(?= )/u.exec(skill.description)?.[0].toLowerCase()
    if (verb) verbs.add(verb)
    addTo(skillsBySub, skill.sub.number, skill)
    addTo(skillsByMaster, skill.sub.master.number, skill)
  }
  const vocabularyOf = (masterNumber: number) => {
    let words = vocabularyByMaster.get(masterNumber)
    if (!words) {
      words = contentWords(
        skillsByMaster
          .get(masterNumber)!
          .slice(0, MAX_COMPARED_SKILLS)
          .map(({ name, description }) => `${name} ${description}`)
          .join(' '),
      )
      vocabularyByMaster.set(masterNumber, words)
    }
    return words
  }
  const findRelated = (masterNumber: number): SnapshotSkill[][] => {
    if (!skillsByMaster.has(masterNumber)) return []
    const vocabulary = vocabularyOf(masterNumber)
    return [...skillsByMaster.keys()]
      .filter((otherNumber) => otherNumber !== masterNumber)
      .map((otherNumber) => ({ otherNumber, similarity: vocabularySimilarity(vocabulary, vocabularyOf(otherNumber)) }))
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, MAX_RELATED_TRADES)
      .map(({ otherNumber }) => skillsByMaster.get(otherNumber)!)
  }
  const relatedTo = (masterNumber: number): SnapshotSkill[][] => {
    const relatedTrades = relatedByMaster.get(masterNumber) ?? findRelated(masterNumber)
    relatedByMaster.set(masterNumber, relatedTrades)
    return relatedTrades
  }
  const neighbourhood: Neighbourhood = {
    allSkills: snapshot.skills,
    ofSub: (number) => skillsBySub.get(number) ?? [],
    ofMaster: (number) => skillsByMaster.get(number) ?? [],
    nearestTo: (master) => relatedTo(master).slice(0, MAX_NEAREST_TRADES).flat(),
    relatedTo: (master) => relatedTo(master).flat(),
    tasksIn(description) {
      const tasks = tasksByDescription.get(description) ?? tasksOf(description, verbs)
      tasksByDescription.set(description, tasks)
      return tasks
    },
  }
  neighbourhoods.set(snapshot, neighbourhood)
  return neighbourhood
}

function addTo(map: Map<number, SnapshotSkill[]>, number: number, skill: SnapshotSkill): void {
  const skillList = map.get(number)
  if (skillList) skillList.push(skill)
  else map.set(number, [skill])
}

/** Number of shared words divided by the square root of the other vocabulary's size, because a large one shares words with all others. */
function vocabularySimilarity(vocabulary: ReadonlySet<string>, otherVocabulary: ReadonlySet<string>): number {
  const sharedCount = [...otherVocabulary].filter((word) => vocabulary.has(word)).length
  return sharedCount / Math.sqrt(Math.max(1, otherVocabulary.size))
}
