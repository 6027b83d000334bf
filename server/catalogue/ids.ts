/** Skills, sub-skills and master skills have numbers internally. The APIs use the IDs `sk_N`, `ss_N` and `ms_N`. */

export const skillId = (number: number): string => `sk_${number}`
export const subSkillId = (number: number): string => `ss_${number}`
export const masterSkillId = (number: number): string => `ms_${number}`

export const skillNumber = numberParser('sk')
export const subSkillNumber = numberParser('ss')
export const masterSkillNumber = numberParser('ms')

/** Returns a function that parses an ID with this prefix and returns undefined for other texts. */
function numberParser(prefix: string) {
  const pattern = new RegExp(`^${prefix}_[1-9][0-9]{0,8}$`)
  return (id: string): number | undefined => (pattern.test(id) ? Number(id.slice(3)) : undefined)
}
