import type { Section } from './markdown.ts'

const MAX_QUERY_LENGTH = 200
const MAX_QUERY_WORDS = 8
const MAX_RESULTS = 30
const MAX_RESULTS_PER_PAGE = 3
const EXCERPT_LENGTH = 220

/** Higher than any other score. */
const EXACT_ENDPOINT_SCORE = 1000
const ENDPOINT = /^(get|post|put|patch|delete)\s+\//i

/**
 * Factors of the scores by path: most readers look for instructions. Pages of figures and the history contain many words of all subjects.
 */
const WEIGHTS: [pattern: RegExp, weight: number][] = [
  [/^\/docs\/guides\//, 1.5],
  [/^\/docs\/(decisions|changelog|versions)/, 0.5],
  [/^\/docs\/reference\/(performance|catalogue-quality)/, 0.5],
  [/^\/docs\/api\//, 0.75],
]

/** A page of the documentation, or an API of the API reference. */
interface SearchPage {
  title: string
  path: string
}

/** A section with its text in lower case, prepared for the search. */
export interface SearchEntry extends Section {
  page: SearchPage
  pageTitleLower: string
  headingLower: string
  textLower: string
}

export interface SearchResult {
  page: SearchPage
  heading: string
  anchor: string
  /** Text around the first word of the query. */
  excerpt: string
}

export function createSearchEntries(page: SearchPage, sections: Section[]): SearchEntry[] {
  return sections.map(({ heading, anchor, text }) => {
    const compactText = text.replace(/\s+/g, ' ').trim()
    return {
      page,
      heading,
      anchor,
      text: compactText,
      pageTitleLower: page.title.toLowerCase(),
      headingLower: heading.toLowerCase(),
      textLower: compactText.toLowerCase(),
    }
  })
}

/** Splits a query into words. The length is limited, because anyone can search. */
export function queryWords(query: string): string[] {
  const words =
    query
      .slice(0, MAX_QUERY_LENGTH)
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []
  return [...new Set(words)].slice(0, MAX_QUERY_WORDS)
}

/** Returns the sections that contain every word, those with words in their heading or title first. */
export function searchSections(entries: SearchEntry[], query: string, words: string[]): SearchResult[] {
  if (words.length === 0) return []
  const endpoint = ENDPOINT.test(query.trim()) ? query.trim().toLowerCase() : undefined
  const ranked = entries
    .map((entry) => ({
      entry,
      score: scoreOf(entry, words) + (entry.headingLower === endpoint ? EXACT_ENDPOINT_SCORE : 0),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  const countsByPage = new Map<SearchPage, number>()
  const results: SearchResult[] = []
  for (const { entry } of ranked) {
    const count = countsByPage.get(entry.page) ?? 0
    if (count === MAX_RESULTS_PER_PAGE) continue
    countsByPage.set(entry.page, count + 1)
    const { page, heading, anchor } = entry
    if (results.push({ page, heading, anchor, excerpt: excerptOf(entry, words) }) === MAX_RESULTS) break
  }
  return results
}

/** Returns 0 if a word is missing. */
function scoreOf({ page, pageTitleLower, headingLower, textLower, anchor }: SearchEntry, words: string[]): number {
  let score = 0
  for (const word of words) {
    const wordScore =
      (headingLower.includes(word) ? 8 : 0) +
      // The title counts once per page, for its introduction.
      (pageTitleLower.includes(word) ? (anchor === '' ? 10 : 3) : 0) +
      countUpTo(4, textLower, word)
    if (wordScore === 0) return 0
    score += wordScore
  }
  return score * (WEIGHTS.find(([pattern]) => pattern.test(page.path))?.[1] ?? 1)
}

/** Counts the occurrences of a word, up to a maximum. */
function countUpTo(max: number, text: string, word: string): number {
  let count = 0
  for (let position = text.indexOf(word); position >= 0 && count < max; count++)
    position = text.indexOf(word, position + word.length)
  return count
}

function excerptOf({ text, textLower }: SearchEntry, words: string[]): string {
  const positions = words.map((word) => textLower.indexOf(word)).filter((position) => position >= 0)
  const first = positions.length > 0 ? Math.min(...positions) : 0
  const start = first < 60 ? 0 : text.indexOf(' ', first - 60) + 1
  const excerpt = text.slice(start, start + EXCERPT_LENGTH + 1)
  if (excerpt.length <= EXCERPT_LENGTH) return `${start > 0 ? '… ' : ''}${excerpt}`
  // Ends between two words, unless a single word fills the excerpt.
  const lastSpace = excerpt.lastIndexOf(' ')
  const end = start + lastSpace > first ? lastSpace : EXCERPT_LENGTH
  return `${start > 0 ? '… ' : ''}${excerpt.slice(0, end)} …`
}
