import { masterSkillNumber, subSkillNumber } from './ids.ts'
import type { Snapshot, SnapshotSkill } from './snapshot.ts'

export interface HierarchyFilter {
  master_skill_id?: string
  sub_skill_id?: string
}

/** Returns the skills of a master skill, a sub-skill or both, sorted by number; all skills without a filter. */
export function filterSkills(snapshot: Snapshot, { master_skill_id, sub_skill_id }: HierarchyFilter): SnapshotSkill[] {
  if (master_skill_id === undefined && sub_skill_id === undefined) return snapshot.skills
  const masterNumber = master_skill_id === undefined ? undefined : (masterSkillNumber(master_skill_id) ?? -1)
  const subNumber = sub_skill_id === undefined ? undefined : (subSkillNumber(sub_skill_id) ?? -1)
  return snapshot.skills.filter(
    (skill) =>
      (subNumber === undefined || skill.sub.number === subNumber) &&
      (masterNumber === undefined || skill.sub.master.number === masterNumber),
  )
}

/** Returns up to `limit` skills with a number above `after` from a list sorted by number, and whether there are more. */
export function skillsAfter(
  skills: SnapshotSkill[],
  after: number,
  limit: number,
): { page: SnapshotSkill[]; hasMore: boolean } {
  let low = 0
  let high = skills.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (skills[middle]!.number <= after) low = middle + 1
    else high = middle
  }
  return { page: skills.slice(low, low + limit), hasMore: low + limit < skills.length }
}

/** The end of a page of search results. */
export interface SearchPosition {
  /** Version of the catalogue that was searched. */
  version: number
  offset: number
  /** Number of the last skill on the page. */
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
  position: SearchPosition | undefined,
): { results: ScoredSkill[]; next: SearchPosition | undefined } {
  const offset = position ? offsetAfterPosition(snapshot, query, position) : 0
  const { skills, total } = snapshot.index.search(query, { offset, limit })
  const results = skills.map(({ number, score }) => ({ skill: snapshot.skill(number)!, score }))
  const lastSkill = skills.at(-1)
  const endOffset = offset + skills.length
  const nextPosition =
    lastSkill && endOffset < total
      ? { version: snapshot.version, offset: endOffset, last: lastSkill.number }
      : undefined
  return { results, next: nextPosition }
}

function offsetAfterPosition(snapshot: Snapshot, query: string, { version, offset, last }: SearchPosition): number {
  if (version === snapshot.version) return offset
  const { skills } = snapshot.index.search(query, { limit: snapshot.skills.length })
  const index = skills.findIndex(({ number }) => number === last)
  return index < 0 ? offset : index + 1
}
