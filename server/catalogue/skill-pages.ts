import { masterSkillNumber, subSkillNumber } from './ids.ts'
import type { Snapshot, SnapshotSkill } from './snapshot.ts'

export interface HierarchyFilter {
  master_skill_id?: string
  sub_skill_id?: string
}

/** Returns the skills of a master skill, a sub-skill or both, sorted by number; all skills without a filter. */
export function skillsUnder(snapshot: Snapshot, { master_skill_id, sub_skill_id }: HierarchyFilter): SnapshotSkill[] {
  if (master_skill_id === undefined && sub_skill_id === undefined) return snapshot.skills
  const master = master_skill_id === undefined ? undefined : (masterSkillNumber(master_skill_id) ?? -1)
  const sub = sub_skill_id === undefined ? undefined : (subSkillNumber(sub_skill_id) ?? -1)
  return snapshot.skills.filter(
    (skill) =>
      (sub === undefined || skill.sub.number === sub) && (master === undefined || skill.sub.master.number === master),
  )
}

/** Returns up to `limit` skills with a number above `after` from a list sorted by number, and whether there are more. */
export function skillsAfter(
  skills: SnapshotSkill[],
  after: number,
  limit: number,
): { page: SnapshotSkill[]; more: boolean } {
  let low = 0
  let high = skills.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (skills[middle]!.number <= after) low = middle + 1
    else high = middle
  }
  return { page: skills.slice(low, low + limit), more: low + limit < skills.length }
}

/** The end of a page of search results. */
export interface SearchPosition {
  /** Version of the catalogue that was searched. */
  version: number
  offset: number
  /** Number of the last skill of the page. */
  last: number
}

export interface ScoredSkill {
  skill: SnapshotSkill
  score: number
}

/**
 * Returns a page of search results. If the catalogue has changed since the previous page, continues after the last skill of that
 * page, so that skills added in between neither repeat nor skip results.
 */
export function searchPage(
  snapshot: Snapshot,
  query: string,
  limit: number,
  from: SearchPosition | undefined,
): { found: ScoredSkill[]; next: SearchPosition | undefined } {
  const offset = from ? offsetAfter(snapshot, query, from) : 0
  const { skills, total } = snapshot.index.search(query, { offset, limit })
  const found = skills.map(({ number, score }) => ({ skill: snapshot.skill(number)!, score }))
  const last = skills.at(-1)
  const end = offset + skills.length
  const next = last && end < total ? { version: snapshot.version, offset: end, last: last.number } : undefined
  return { found, next }
}

function offsetAfter(snapshot: Snapshot, query: string, { version, offset, last }: SearchPosition): number {
  if (version === snapshot.version) return offset
  const { skills } = snapshot.index.search(query, { limit: snapshot.skills.length })
  const index = skills.findIndex(({ number }) => number === last)
  return index < 0 ? offset : index + 1
}
