import { masterSkillNumber, subSkillNumber } from './ids.ts'
import { tokenize } from './index/text/tokens.ts'
import type { Snapshot, SnapshotSkill } from './snapshot.ts'

export interface HierarchyFilter {
  master_skill_id?: string
  sub_skill_id?: string
}

/** Returns the skills of the given master skill and sub-skill, sorted by number. Returns all skills if neither is given. */
export function filterSkills(snapshot: Snapshot, { master_skill_id, sub_skill_id }: HierarchyFilter): SnapshotSkill[] {
  if (master_skill_id === undefined && sub_skill_id === undefined) return snapshot.skills
  // An ID that cannot exist, such as `ms_0`, becomes -1 and matches no skill.
  const masterNumber = master_skill_id === undefined ? undefined : (masterSkillNumber(master_skill_id) ?? -1)
  const subNumber = sub_skill_id === undefined ? undefined : (subSkillNumber(sub_skill_id) ?? -1)
  return snapshot.skills.filter(
    (skill) =>
      (subNumber === undefined || skill.sub.number === subNumber) &&
      (masterNumber === undefined || skill.sub.master.number === masterNumber),
  )
}

/**
 * Returns the first `limit` skills with a number higher than `after`, and whether there are more. `skills` must be sorted by
 * number.
 */
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

/** Position after a page of search results. The cursor of the next page contains it. */
export interface SearchPosition {
  /** Version of the catalogue that was searched. */
  version: number
  /** Number of results up to the end of the page. */
  offset: number
  /** Number of the last skill on the page. */
  last: number
}

interface SearchPageRequest {
  limit: number
  position?: SearchPosition | undefined
  /** Excludes the skills for which it returns false. */
  filter?: SkillFilter | undefined
}

/** `number` is N of `sk_N`. */
type SkillFilter = (number: number) => boolean

export interface ScoredSkill {
  skill: SnapshotSkill
  score: number
}

/**
 * Returns a page of search results. If the catalogue has changed since the previous page, the page starts after the last skill of
 * the previous page. So skills that were added in the meantime do not cause repeated or skipped results.
 */
export function searchPage(
  snapshot: Snapshot,
  query: string,
  { limit, position, filter }: SearchPageRequest,
): { results: ScoredSkill[]; next: SearchPosition | undefined } {
  const offset = position ? offsetAfterPosition(snapshot, query, position, filter) : 0
  const { skills, total } = snapshot.index.search(query, { offset, limit, ...(filter && { filter }) })
  const results = skills.map(({ number, score }) => ({ skill: snapshot.skill(number)!, score }))
  const lastSkill = skills.at(-1)
  const endOffset = offset + skills.length
  const nextPosition =
    lastSkill && endOffset < total
      ? { version: snapshot.version, offset: endOffset, last: lastSkill.number }
      : undefined
  return { results, next: nextPosition }
}

/** Returns the offset of the next page in the current version of the catalogue. */
function offsetAfterPosition(
  snapshot: Snapshot,
  query: string,
  { version, offset, last }: SearchPosition,
  filter: SkillFilter | undefined,
): number {
  if (version === snapshot.version) return offset
  const { skills } = snapshot.index.search(query, { limit: snapshot.skills.length, ...(filter && { filter }) })
  const index = skills.findIndex(({ number }) => number === last)
  return index < 0 ? offset : index + 1
}

/**
 * Returns the master skills or sub-skills whose names match the keyword, in list order. Each word of the keyword must be the beginning of
 * a word in the name. Without a keyword, all groups are returned.
 */
export function filterGroupsByName<T extends { name: string }>(groups: T[], keyword: string | undefined): T[] {
  if (keyword === undefined) return groups
  const words = tokenize(keyword)
  if (words.length === 0) return []
  return groups.filter(({ name }) => {
    const nameWords = tokenize(name)
    return words.every((word) => nameWords.some((nameWord) => nameWord.startsWith(word)))
  })
}
