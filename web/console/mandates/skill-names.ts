import type { Skill, SkillLookup } from '../../api-types/partner.ts'
import { api } from '../shell/api.ts'
import type { OrgContext } from '../shell/session.ts'

/** Returns the skills with these IDs; skills that are no longer in the catalogue are left out. */
export async function lookUpSkills(context: OrgContext, ids: string[]): Promise<Skill[]> {
  if (ids.length === 0) return []
  const response = await api<SkillLookup>(context.apiPath('/skills/lookup'), { body: { skill_ids: ids } })
  return response.ok ? response.data.found : []
}

export async function skillNames(context: OrgContext, ids: string[]): Promise<Map<string, string>> {
  return new Map((await lookUpSkills(context, ids)).map(({ skill_id, name }) => [skill_id, name]))
}
