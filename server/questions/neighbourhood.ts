import type { Skill } from '../catalogue/snapshot.ts'
import type { CatalogueToAsk } from './questions.ts'
import { tellingWordsOf } from './words.ts'

/** Which skills stand near which. Kept for one snapshot of the catalogue, made when first asked for. */
export interface Neighbourhood {
  all: readonly Skill[]
  /** Of the sub-skill with this number. */
  ofSub(number: number): readonly Skill[]
  ofMaster(number: number): readonly Skill[]
  /** Skills of the master skills whose names have most words in common with those of this one. */
  relatedTo(master: number): readonly Skill[]
  /** Words that descriptions begin with: "joins", "sets", "checks". */
  verbs: ReadonlySet<string>
}

/** Trades that count as related, and how many names of a trade are compared. */
const RELATED = 6
const NAMES_TO_COMPARE = 60

const known = new WeakMap<object, Neighbourhood>()

export function neighbourhoodOf(snapshot: CatalogueToAsk['current']): Neighbourhood {
  const before = known.get(snapshot)
  if (before) return before
  const subs = new Map<number, Skill[]>()
  const masters = new Map<number, Skill[]>()
  const verbs = new Set<string>()
  const vocabularies = new Map<number, Set<string>>()
  const related = new Map<number, Skill[]>()
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
          .slice(0, NAMES_TO_COMPARE)
          .map(({ name }) => name)
          .join(' '),
      )
      vocabularies.set(master, words)
    }
    return words
  }
  const findRelated = (master: number): Skill[] => {
    if (!masters.has(master)) return []
    const own = vocabularyOf(master)
    return [...masters.keys()]
      .filter((other) => other !== master)
      .map((other) => ({ other, shared: [...vocabularyOf(other)].filter((word) => own.has(word)).length }))
      .sort((a, b) => b.shared - a.shared)
      .slice(0, RELATED)
      .flatMap(({ other }) => masters.get(other)!)
  }
  const made: Neighbourhood = {
    all: snapshot.skills,
    ofSub: (number) => subs.get(number) ?? [],
    ofMaster: (number) => masters.get(number) ?? [],
    relatedTo(master) {
      const found = related.get(master) ?? findRelated(master)
      related.set(master, found)
      return found
    },
    verbs,
  }
  known.set(snapshot, made)
  return made
}

function into(map: Map<number, Skill[]>, number: number, skill: Skill): void {
  const list = map.get(number)
  if (list) list.push(skill)
  else map.set(number, [skill])
}
