import { masterSkillNumber, subSkillNumber } from './ids.ts'
import type { Skill, Snapshot } from './snapshot.ts'

export interface HierarchyFilter {
  master_skill_id?: string
  sub_skill_id?: string
}

/** The skills under a master skill, a sub-skill, or both, by number; all of them without a filter. */
export function skillsUnder(snapshot: Snapshot, { master_skill_id, sub_skill_id }: HierarchyFilter): Skill[] {
  if (master_skill_id === undefined && sub_skill_id === undefined) return snapshot.skills
  const master = master_skill_id === undefined ? undefined : (masterSkillNumber(master_skill_id) ?? -1)
  const sub = sub_skill_id === undefined ? undefined : (subSkillNumber(sub_skill_id) ?? -1)
  return snapshot.skills.filter(
    (skill) =>
      (sub === undefined || skill.sub.number === sub) && (master === undefined || skill.sub.master.number === master),
  )
}

/** Up to `limit` skills with a number above `after`, of a list that is in order of numbers; and whether more follow. */
export function skillsAfter(skills: Skill[], after: number, limit: number): { page: Skill[]; more: boolean } {
  let low = 0
  let high = skills.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (skills[middle]!.number <= after) low = middle + 1
    else high = middle
  }
  return { page: skills.slice(low, low + limit), more: low + limit < skills.length }
}

/** Where a page of search results ended. */
export interface SearchPosition {
  /** Of the catalogue that was searched. */
  version: number
  offset: number
  /** The last skill of the page. */
  last: number
}

export interface FoundSkill {
  skill: Skill
  score: number
}

/**
 * A page of search results. Where the catalogue has changed since the page before, the list goes on behind the skill with
 * which that page ended, so that what was added in between neither repeats a skill nor pushes one out.
 */
export function searchPage(
  snapshot: Snapshot,
  query: string,
  limit: number,
  from: SearchPosition | undefined,
): { found: FoundSkill[]; next: SearchPosition | undefined } {
  const offset = from ? placeAfter(snapshot, query, from) : 0
  const { skills, total } = snapshot.index.search(query, { offset, limit })
  const found = skills.map(({ number, score }) => ({ skill: snapshot.skill(number)!, score }))
  const last = skills.at(-1)
  const end = offset + skills.length
  const next = last && end < total ? { version: snapshot.version, offset: end, last: last.number } : undefined
  return { found, next }
}

function placeAfter(snapshot: Snapshot, query: string, { version, offset, last }: SearchPosition): number {
  if (version === snapshot.version) return offset
  const { skills } = snapshot.index.search(query, { limit: snapshot.skills.length })
  const place = skills.findIndex(({ number }) => number === last)
  return place < 0 ? offset : place + 1
}
