import { isFiller } from '../lexicon/filler-words.ts'
import { stemOf } from '../text/stems.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { hashOf, wordsOf } from '../text/tokens.ts'
import type { SkillEntry, SkillGroup } from './labels.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * How likely a skill is meant before anything is known of the query but that the skill fits it. Recruiters mean what people
 * can be tested on. The most general skills are listed first in their sub-skill, as these are in their master skill, and what many
 * people speak of has more names than what stands beside it. Catalogues differ in how many names they give, so that only
 * neighbours are compared.
 */

/** In thousandths, as all that follows. */
const VERIFIABLE = 40
const FIRST_OF_GROUP = 40
const FIRST_GROUP = 15
const ONE_NAME_MORE = 10
const MOST_NAMES_MORE = 4

/** The most that any skill can have. */
export const HIGHEST_STANDING = VERIFIABLE + FIRST_OF_GROUP + FIRST_GROUP + MOST_NAMES_MORE * ONE_NAME_MORE

/** A sub-skill: how many skills it has, with how many names, and its place among those of its master skill, from 1. */
interface Group {
  skills: number
  names: number
  place: number
}

/** The standing of each skill, in thousandths; skills are given in the order of their numbers. */
export function* buildStanding(entries: readonly SkillEntry[]): Stepwise<Uint8Array> {
  const groups = new Map<number, Group>()
  const groupsOf = new Map<number, number>()
  for (let entry = 0; entry < entries.length; entry++) {
    const { sub, aliases } = entries[entry]!
    if (sub) {
      let group = groups.get(sub.number)
      if (!group) {
        const place = (groupsOf.get(sub.master.number) ?? 0) + 1
        groupsOf.set(sub.master.number, place)
        group = { skills: 0, names: 0, place }
        groups.set(sub.number, group)
      }
      group.skills++
      group.names += aliases.length
    }
    if (entry % 8192 === 8191) yield
  }
  const listed = new Map<Group, number>()
  const standing = new Uint8Array(entries.length)
  for (let entry = 0; entry < entries.length; entry++) {
    const { sub, aliases, verifiable } = entries[entry]!
    const group = sub && groups.get(sub.number)
    let worth = verifiable ? VERIFIABLE : 0
    if (group) {
      const place = (listed.get(group) ?? 0) + 1
      listed.set(group, place)
      const more = Math.max(0, aliases.length - group.names / group.skills)
      worth += FIRST_OF_GROUP / place + FIRST_GROUP / group.place + ONE_NAME_MORE * Math.min(MOST_NAMES_MORE, more)
    }
    standing[entry] = Math.round(worth)
    if (entry % 8192 === 8191) yield
  }
  return standing
}

/** The words in the name of the sub-skill that is being gone through, by their stems. */
export class GroupWords {
  /** 1 for a stem in the name. */
  readonly marks: Uint8Array
  private readonly vocabulary: Vocabulary
  private group: SkillGroup | undefined
  private marked: number[] = []

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary
    this.marks = new Uint8Array(vocabulary.stemCount)
  }

  enter(group: SkillGroup | undefined): void {
    if (group === this.group) return
    this.group = group
    for (const stem of this.marked) this.marks[stem] = 0
    this.marked = []
    for (const word of group ? wordsOf(group.name) : []) {
      const stem = this.vocabulary.findStem(stemOf(word))
      if (stem < 0 || isFiller(hashOf(word))) continue
      this.marks[stem] = 1
      this.marked.push(stem)
    }
  }
}
