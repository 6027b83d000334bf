/** A skill that the student chose, as stored in the session. */
export interface ChosenSkill {
  number: number
  name: string
  proofUrl: string[]
}

/** A reviewer's decision about a skill. */
export interface SkillDecision {
  /** Number of the skill in the catalogue. */
  skill: number
  endorsed: boolean
  rating?: number
  comment?: string
}
