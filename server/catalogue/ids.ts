/** Skills, sub-skills and master skills are numbers inside and `sk_N`, `ss_N`, `ms_N` outside. */

export const skillId = (number: number): string => `sk_${number}`
export const subSkillId = (number: number): string => `ss_${number}`
export const masterSkillId = (number: number): string => `ms_${number}`

/** The patterns that request schemas hold ids against. */
export const SKILL_ID = '^sk_[1-9][0-9]{0,8}$'
export const SUB_SKILL_ID = '^ss_[1-9][0-9]{0,8}$'
export const MASTER_SKILL_ID = '^ms_[1-9][0-9]{0,8}$'

export const skillNumber = reader(SKILL_ID)
export const subSkillNumber = reader(SUB_SKILL_ID)
export const masterSkillNumber = reader(MASTER_SKILL_ID)

/** Undefined where the text is no such id. */
function reader(pattern: string) {
  const shape = new RegExp(pattern)
  return (id: string): number | undefined => (shape.test(id) ? Number(id.slice(3)) : undefined)
}
