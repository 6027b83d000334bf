import { api } from '../shell/api.ts'
import type { Place } from '../shell/session.ts'

export interface Skill {
  skill_id: string
  name: string
  verifiable: boolean
  master_skill?: { name: string }
}

/** Skills by their ids; what the catalogue no longer has is left out. */
export async function lookUp(place: Place, ids: string[]): Promise<Skill[]> {
  if (ids.length === 0) return []
  const answer = await api<{ found: Skill[] }>(place.at('/skills/lookup'), { body: { skill_ids: ids } })
  return answer.ok ? answer.data.found : []
}

export async function namesOf(place: Place, ids: string[]): Promise<Map<string, string>> {
  return new Map((await lookUp(place, ids)).map(({ skill_id, name }) => [skill_id, name]))
}
