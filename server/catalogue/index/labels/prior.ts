import { isFiller } from '../lexicon/filler-words.ts'
import { stemOf } from '../lexicon/stems.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { tokenize, wordHash } from '../text/tokens.ts'
import type { SkillEntry, SkillGroup } from './labels.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * Prior probability that a skill is meant, among skills that match a query equally well. Recruiters mean skills that people can
 * be tested on. General skills are listed first in their sub-skill, and general sub-skills first in their master skill. A
 * common skill has more aliases than its neighbours; only neighbours are compared, because the number of
 * aliases differs between catalogues.
 */

/** Contributions to a prior, in thousandths. A group is a sub-skill. The FIRST bonuses are divided by the rank: 1 for the first, 2 for the second. */
const VERIFIABLE_BONUS = 40
const FIRST_IN_GROUP_BONUS = 40
const FIRST_GROUP_IN_MASTER_BONUS = 15
const EXTRA_ALIAS_BONUS = 10
const MAX_EXTRA_ALIASES = 4

/** The highest prior that a skill can have, in thousandths. */
export const MAX_PRIOR =
  VERIFIABLE_BONUS + FIRST_IN_GROUP_BONUS + FIRST_GROUP_IN_MASTER_BONUS + MAX_EXTRA_ALIASES * EXTRA_ALIAS_BONUS

/** Totals of a sub-skill, and its rank in its master skill, from 1. */
interface GroupTotals {
  skillCount: number
  aliasCount: number
  rankInMaster: number
}

/** Returns the prior of each skill in thousandths; the entries must be sorted by number. */
export function* buildPriors(entries: readonly SkillEntry[]): SlicedTask<Uint8Array> {
  const groups = new Map<number, GroupTotals>()
  const groupCountsByMaster = new Map<number, number>()
  for (let entry = 0; entry < entries.length; entry++) {
    const { sub, aliases } = entries[entry]!
    if (sub) {
      let group = groups.get(sub.number)
      if (!group) {
        const rank = (groupCountsByMaster.get(sub.master.number) ?? 0) + 1
        groupCountsByMaster.set(sub.master.number, rank)
        group = { skillCount: 0, aliasCount: 0, rankInMaster: rank }
        groups.set(sub.number, group)
      }
      group.skillCount++
      group.aliasCount += aliases.length
    }
    if (entry % 8192 === 8191) yield
  }
  const ranksInGroup = new Map<GroupTotals, number>()
  const priors = new Uint8Array(entries.length)
  for (let entry = 0; entry < entries.length; entry++) {
    const { sub, aliases, verifiable } = entries[entry]!
    const group = sub && groups.get(sub.number)
    let prior = verifiable ? VERIFIABLE_BONUS : 0
    if (group) {
      const rank = (ranksInGroup.get(group) ?? 0) + 1
      ranksInGroup.set(group, rank)
      const extraAliases = Math.max(0, aliases.length - group.aliasCount / group.skillCount)
      prior +=
        FIRST_IN_GROUP_BONUS / rank +
        FIRST_GROUP_IN_MASTER_BONUS / group.rankInMaster +
        EXTRA_ALIAS_BONUS * Math.min(MAX_EXTRA_ALIASES, extraAliases)
    }
    priors[entry] = Math.round(prior)
    if (entry % 8192 === 8191) yield
  }
  return priors
}

/** The stems in the name of the current sub-skill. */
export class GroupNameStems {
  /** By stem: 1 if the name contains the stem. */
  readonly marks: Uint8Array
  private readonly vocabulary: Vocabulary
  private group: SkillGroup | undefined
  private markedStems: number[] = []

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary
    this.marks = new Uint8Array(vocabulary.stemCount)
  }

  setGroup(group: SkillGroup | undefined): void {
    if (group === this.group) return
    this.group = group
    for (const stem of this.markedStems) this.marks[stem] = 0
    this.markedStems = []
    for (const word of group ? tokenize(group.name) : []) {
      const stem = this.vocabulary.findStem(stemOf(word))
      if (stem < 0 || isFiller(wordHash(word))) continue
      this.marks[stem] = 1
      this.markedStems.push(stem)
    }
  }
}
