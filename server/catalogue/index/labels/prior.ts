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
const FIRST_GROUP_BONUS = 15
const EXTRA_ALIAS_BONUS = 10
const MAX_EXTRA_ALIASES = 4

/** The highest prior that a skill can have, in thousandths. */
export const MAX_PRIOR =
  VERIFIABLE_BONUS + FIRST_IN_GROUP_BONUS + FIRST_GROUP_BONUS + MAX_EXTRA_ALIASES * EXTRA_ALIAS_BONUS

/** Totals of a sub-skill, and its rank in its master skill, from 1. */
interface GroupTotals {
  skills: number
  aliases: number
  rank: number
}

/** Returns the prior of each skill in thousandths; the entries must be sorted by number. */
export function* buildPriors(entries: readonly SkillEntry[]): SlicedTask<Uint8Array> {
  const groups = new Map<number, GroupTotals>()
  const groupCounts = new Map<number, number>()
  for (let entry = 0; entry < entries.length; entry++) {
    const { sub, aliases } = entries[entry]!
    if (sub) {
      let group = groups.get(sub.number)
      if (!group) {
        const rank = (groupCounts.get(sub.master.number) ?? 0) + 1
        groupCounts.set(sub.master.number, rank)
        group = { skills: 0, aliases: 0, rank }
        groups.set(sub.number, group)
      }
      group.skills++
      group.aliases += aliases.length
    }
    if (entry % 8192 === 8191) yield
  }
  const ranked = new Map<GroupTotals, number>()
  const priors = new Uint8Array(entries.length)
  for (let entry = 0; entry < entries.length; entry++) {
    const { sub, aliases, verifiable } = entries[entry]!
    const group = sub && groups.get(sub.number)
    let prior = verifiable ? VERIFIABLE_BONUS : 0
    if (group) {
      const rank = (ranked.get(group) ?? 0) + 1
      ranked.set(group, rank)
      const extraAliases = Math.max(0, aliases.length - group.aliases / group.skills)
      prior +=
        FIRST_IN_GROUP_BONUS / rank +
        FIRST_GROUP_BONUS / group.rank +
        EXTRA_ALIAS_BONUS * Math.min(MAX_EXTRA_ALIASES, extraAliases)
    }
    priors[entry] = Math.round(prior)
    if (entry % 8192 === 8191) yield
  }
  return priors
}

/** The stems in the name of the current sub-skill. */
export class GroupNameStems {
  /** 1 for a stem in the name. */
  readonly marks: Uint8Array
  private readonly vocabulary: Vocabulary
  private group: SkillGroup | undefined
  private marked: number[] = []

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary
    this.marks = new Uint8Array(vocabulary.stemCount)
  }

  setGroup(group: SkillGroup | undefined): void {
    if (group === this.group) return
    this.group = group
    for (const stem of this.marked) this.marks[stem] = 0
    this.marked = []
    for (const word of group ? tokenize(group.name) : []) {
      const stem = this.vocabulary.findStem(stemOf(word))
      if (stem < 0 || isFiller(wordHash(word))) continue
      this.marks[stem] = 1
      this.marked.push(stem)
    }
  }
}
