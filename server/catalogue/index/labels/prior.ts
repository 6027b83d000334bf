import { isFiller } from '../lexicon/filler-words.ts'
import { stemOf } from '../lexicon/stems.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { tokenize, wordHash } from '../text/tokens.ts'
import type { SkillEntry, SubSkillEntry } from './labels.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * Prior of a skill: a bonus that orders skills that match a query equally well. It is higher for a skill
 * - that the catalogue prefers, because employers often ask for it;
 * - that is listed early in its sub-skill, or whose sub-skill is early in its master skill, because general skills come first;
 * - that has more aliases than the average skill of its sub-skill, because common skills have many aliases. Skills of other
 *   sub-skills are not compared, because the number of aliases differs between catalogues.
 */

/**
 * Parts of a prior, in thousandths of a score. The `FIRST_` bonuses are divided by the rank: the second skill gets one half,
 * the third a third.
 */
const PREFERRED_BONUS = 40
const FIRST_IN_SUB_SKILL_BONUS = 40
const FIRST_SUB_SKILL_IN_MASTER_BONUS = 15
const EXTRA_ALIAS_BONUS = 10
/** Maximum number of aliases above the average of the sub-skill that raise the prior. */
const MAX_EXTRA_ALIASES = 4

/** The highest prior that a skill can have, in thousandths of a score. */
export const MAX_PRIOR =
  PREFERRED_BONUS + FIRST_IN_SUB_SKILL_BONUS + FIRST_SUB_SKILL_IN_MASTER_BONUS + MAX_EXTRA_ALIASES * EXTRA_ALIAS_BONUS

/** Totals over the skills of a sub-skill. `rankInMaster` is its position in the master skill, from 1. */
interface SubSkillTotals {
  skillCount: number
  aliasCount: number
  rankInMaster: number
}

/** Returns the prior of each skill, in thousandths of a score. The entries must be sorted by number. */
export function* buildPriors(entries: readonly SkillEntry[]): SlicedTask<Uint8Array> {
  const totalsBySubSkill = new Map<number, SubSkillTotals>()
  const subSkillCountsByMaster = new Map<number, number>()
  for (let entryIndex = 0; entryIndex < entries.length; entryIndex++) {
    const { sub, aliases } = entries[entryIndex]!
    if (sub) {
      let totals = totalsBySubSkill.get(sub.number)
      if (!totals) {
        const rank = (subSkillCountsByMaster.get(sub.master.number) ?? 0) + 1
        subSkillCountsByMaster.set(sub.master.number, rank)
        totals = { skillCount: 0, aliasCount: 0, rankInMaster: rank }
        totalsBySubSkill.set(sub.number, totals)
      }
      totals.skillCount++
      totals.aliasCount += aliases.length
    }
    if (entryIndex % 8192 === 8191) yield
  }
  /** The rank of the last skill read from each sub-skill, from 1. */
  const lastRanks = new Map<SubSkillTotals, number>()
  const priors = new Uint8Array(entries.length)
  for (let entryIndex = 0; entryIndex < entries.length; entryIndex++) {
    const { sub, aliases, isPreferred } = entries[entryIndex]!
    const totals = sub && totalsBySubSkill.get(sub.number)
    let prior = isPreferred ? PREFERRED_BONUS : 0
    if (totals) {
      const rank = (lastRanks.get(totals) ?? 0) + 1
      lastRanks.set(totals, rank)
      const extraAliases = Math.max(0, aliases.length - totals.aliasCount / totals.skillCount)
      prior +=
        FIRST_IN_SUB_SKILL_BONUS / rank +
        FIRST_SUB_SKILL_IN_MASTER_BONUS / totals.rankInMaster +
        EXTRA_ALIAS_BONUS * Math.min(MAX_EXTRA_ALIASES, extraAliases)
    }
    priors[entryIndex] = Math.round(prior)
    if (entryIndex % 8192 === 8191) yield
  }
  return priors
}

/**
 * The set of stems in the name of one sub-skill. Consecutive skills are usually in the same sub-skill, so the set is kept until
 * it changes.
 */
export class SubSkillNameStems {
  /** By stem number: 1 if the name of the sub-skill contains the stem. */
  readonly containsStem: Uint8Array
  private readonly vocabulary: Vocabulary
  private subSkill: SubSkillEntry | undefined
  private markedStems: number[] = []

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary
    this.containsStem = new Uint8Array(vocabulary.stemCount)
  }

  /** Replaces the set by the stems of this sub-skill's name, without filler words. */
  setSubSkill(subSkill: SubSkillEntry | undefined): void {
    if (subSkill === this.subSkill) return
    this.subSkill = subSkill
    for (const stem of this.markedStems) this.containsStem[stem] = 0
    this.markedStems = []
    for (const word of subSkill ? tokenize(subSkill.name) : []) {
      const stem = this.vocabulary.findStem(stemOf(word))
      if (stem < 0 || isFiller(wordHash(word))) continue
      this.containsStem[stem] = 1
      this.markedStems.push(stem)
    }
  }
}
