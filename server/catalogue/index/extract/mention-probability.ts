import type { LabelMention } from './label-mentions.ts'

/**
 * The probability that a text requires a skill of the built-in catalogue that it mentions. It depends on the mention and on the other
 * skills in the text: "carpet" next to mopping and bed making means carpet shampooing, and "painter" next to dent repair is no wall
 * painter. Both models are logistic regressions, which `training/mentions/train.ts` fits to labelled advertisements.
 */

/** Weights of the features in the order of `labelFeatures`, and the intercept. */
const LABEL_WEIGHTS = [0.659, -1.657, 0.296, 0.639, -1.96, 0.544, 1.831]
/** Weights of the features in the order of `clauseFeatures`, and the intercept. */
const CLAUSE_WEIGHTS = [2.24, -0.419, -0.169, -2.523, 1.274, -1.84, -1.648]

/**
 * Numbers of the master skills whose skills any kind of work may need: support, sales, office, languages, business, IT and safety. It
 * says little if the text mentions no other skill of them.
 */
const GENERAL_MASTERS: ReadonlySet<number> = new Set([20, 21, 23, 35, 36, 37, 39])
/** With a lower total score of the other mentions, too little is known about the text. */
const MIN_CONTEXT_SCORE = 1
const MAX_SUB_SKILL_SCORE = 2
const MAX_MARGIN = 6
const MAX_REPETITIONS = 2
/** From this number of other mentions on, a text counts as dense. */
const MIN_DENSE_TEXT_MENTIONS = 8

/** By entry index: the numbers of the sub-skill and the master skill of a built-in skill; 0 for others. */
export interface SkillGroups {
  subSkills: Int32Array
  masters: Int32Array
}

/** The built-in skills that the labels in a text mention, with the highest scores of their labels. */
export class MentionContext {
  private readonly groups: SkillGroups
  private readonly mentionCount: number
  private readonly scores = new Map<number, number>()
  private readonly counts = new Map<number, number>()
  private readonly subSkillScores = new Map<number, number>()
  private readonly masterScores = new Map<number, number>()
  private totalScore = 0
  /** 1 if the text mentions no other skill of the master skill of the skill of `relate`, 0 if it mentions one or more. */
  private lack = 0
  /** Total score of the other skills in its sub-skill, up to a maximum. */
  private subSkillScore = 0
  private readonly reusedFeatures = [0, 0, 0, 0, 0, 0]

  constructor(mentions: readonly LabelMention[], groups: SkillGroups) {
    this.groups = groups
    this.mentionCount = mentions.length
    for (const { entryIndex, score, isNegated } of mentions) {
      if (groups.masters[entryIndex] === 0) continue
      this.counts.set(entryIndex, (this.counts.get(entryIndex) ?? 0) + 1)
      if (!isNegated) this.scores.set(entryIndex, Math.max(this.scores.get(entryIndex) ?? 0, score))
    }
    for (const [entryIndex, score] of this.scores) {
      addTo(this.subSkillScores, groups.subSkills[entryIndex]!, score)
      addTo(this.masterScores, groups.masters[entryIndex]!, score)
      this.totalScore += score
    }
  }

  /** Returns the features of a label; undefined if the text mentions too few other skills. `margin` returns that of the span tagger. */
  labelFeatures({ entryIndex, score }: LabelMention, margin: () => number): number[] | undefined {
    if (!this.relate(entryIndex)) return undefined
    return [
      Math.log(score / (1 - score)),
      Math.min(1, (this.mentionCount - 1) / MIN_DENSE_TEXT_MENTIONS),
      Math.max(-MAX_MARGIN, Math.min(MAX_MARGIN, margin())),
      Math.min(MAX_REPETITIONS, (this.counts.get(entryIndex) ?? 1) - 1),
      GENERAL_MASTERS.has(this.groups.masters[entryIndex]!) ? 0 : this.lack,
      this.subSkillScore,
    ]
  }

  /**
   * Returns the features of a skill that a clause may mean; undefined if the text mentions too few other skills. The array is reused by
   * the next call.
   */
  clauseFeatures(entryIndex: number, matchScore: number, rank: number, labelScore: number): number[] | undefined {
    if (!this.relate(entryIndex)) return undefined
    const isGeneral = GENERAL_MASTERS.has(this.groups.masters[entryIndex]!)
    const features = this.reusedFeatures
    features[0] = matchScore
    features[1] = Math.log(1 + rank)
    features[2] = labelScore
    features[3] = isGeneral ? 0 : this.lack
    features[4] = this.subSkillScore
    features[5] = isGeneral ? this.lack : 0
    return features
  }

  /**
   * Sets how much of the other skills is in the master skill of this skill, and in its sub-skill. Returns false if the text mentions too
   * few other skills.
   */
  private relate(entryIndex: number): boolean {
    const subSkill = this.groups.subSkills[entryIndex]!
    const master = this.groups.masters[entryIndex]!
    const own = this.scores.get(entryIndex) ?? 0
    if (master === 0 || this.totalScore - own < MIN_CONTEXT_SCORE) return false
    this.lack = 1 - Math.max(0, Math.min(1, (this.masterScores.get(master) ?? 0) - own))
    this.subSkillScore = Math.min(MAX_SUB_SKILL_SCORE, (this.subSkillScores.get(subSkill) ?? 0) - own)
    return true
  }
}

export const labelProbability = (features: readonly number[]): number => probability(features, LABEL_WEIGHTS)
export const clauseProbability = (features: readonly number[]): number => probability(features, CLAUSE_WEIGHTS)

function probability(features: readonly number[], weights: readonly number[]): number {
  let logit = weights.at(-1)!
  for (let i = 0; i < features.length; i++) logit += features[i]! * weights[i]!
  return 1 / (1 + Math.exp(-logit))
}

function addTo(sums: Map<number, number>, key: number, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value)
}
