import { ALIAS, BARE_NAME, type Labels } from './labels.ts'
import type { NearWords } from './near-words.ts'
import { BEGINS, IS_ALIAS, IS_BARE, LENGTH_BITS, labelWorth, type Postings } from './postings.ts'
import { EXACT, PREFIX, QueryWord } from './query-words.ts'
import { Ranking } from './ranking.ts'
import { wordsOf } from './tokens.ts'

/**
 * Search by name. Each word of the query is turned into the words of the catalogue it may stand for (query-words.ts);
 * the word with the fewest skills behind it leads to the candidates, and every label of a candidate is held
 * against all words. A query of one word needs no labels: its list says enough (postings.ts). When
 * nothing holds all words, typos are allowed in words that are known, and at last words may be missing.
 *
 * The rank is a number a skill has for this query alone, so pages cut from it never overlap or skip.
 */

export interface SearchHit {
  /** Place of the skill in the index's entries. */
  entry: number
  score: number
}

export interface SearchOptions {
  offset?: number
  limit?: number
  filter?: (entry: number) => boolean
}

const MAX_WORDS = 12
const EXACT_NAME = 1
const EXACT_BARE_NAME = 0.985
const EXACT_ALIAS = 0.97
const BELOW_EXACT = 0.96
/** Words found under several labels of one skill, none of which holds them all. */
const SCATTERED = 0.55
/** The part of a query that must be found when not all of it is. */
const PARTIAL = 0.5
/** Reading a list is that much cheaper than weighing a skill that turns out not to be in it. */
const WORTH_SIEVING = 40

export class Search {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly pool: QueryWord[] = []
  private readonly ranking: Ranking
  private readonly newQueryWord: () => QueryWord

  constructor(labels: Labels, postings: Postings, nearWords: NearWords) {
    this.labels = labels
    this.postings = postings
    this.ranking = new Ranking(labels.names.length)
    this.newQueryWord = () => new QueryWord(labels.vocabulary, nearWords)
  }

  search(query: string, { offset = 0, limit = 20, filter }: SearchOptions = {}): { hits: SearchHit[]; total: number } {
    const words = [...new Set(wordsOf(query))].slice(0, MAX_WORDS)
    const { ranking } = this
    ranking.begin(filter)
    if (words.length > 0) {
      this.rank(words, false, false)
      if (ranking.size === 0) this.rank(words, true, false)
      if (ranking.size === 0) this.rankRejoined(words)
      if (ranking.size === 0 && words.length > 1) this.rank(words, true, true)
    }
    return { hits: ranking.page(offset, limit), total: ranking.size }
  }

  private rank(words: string[], lenient: boolean, partial: boolean): void {
    const queryWords = words.map((word, i) => {
      this.pool[i] ??= this.newQueryWord()
      this.pool[i].read(word, i === 0, i === words.length - 1, lenient)
      return this.pool[i]
    })
    if (queryWords.length === 1) this.rankOneWord(queryWords[0]!)
    else {
      for (const word of queryWords) word.reach = word.reachIn(this.postings)
      const scarcestFirst = [...queryWords].sort((a, b) => b.required - a.required || a.reach - b.reach)
      if (partial) this.rankSome(queryWords)
      else this.rankAll(scarcestFirst, queryWords)
    }
    for (const word of queryWords) word.forget()
  }

  /** "data base" for database, "weldingmachine" for welding machine. */
  private rankRejoined(words: string[]): void {
    const { vocabulary } = this.labels
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      if (i + 1 < words.length && vocabulary.find(word + words[i + 1]!) >= 0)
        this.rank([...words.slice(0, i), word + words[i + 1]!, ...words.slice(i + 2)], false, false)
      for (let cut = 2; cut <= word.length - 2; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          this.rank([...words.slice(0, i), left, right, ...words.slice(i + 1)].slice(0, MAX_WORDS), false, false)
      }
    }
  }

  private rankOneWord(word: QueryWord): void {
    const { starts } = this.postings
    const letters = word.text.length
    const exact = word.exact
    if (exact >= 0) {
      this.rankStretch(word.from, exact, PREFIX, letters, 0)
      this.rankStretch(exact, exact + 1, EXACT, letters, letters)
      this.rankStretch(exact + 1, word.to, PREFIX, letters, 0)
    } else if (starts[word.to]! > starts[word.from]!) this.rankStretch(word.from, word.to, PREFIX, letters, 0)
    for (const id of word.near) this.rankStretch(id, id + 1, word.agreement(id), letters, 0)
  }

  /** Ranks the skills of a stretch of words; a label of `whole` letters is the word and nothing else. */
  private rankStretch(fromWord: number, toWord: number, agreement: number, letters: number, whole: number): void {
    const { starts, entries, labels } = this.postings
    const { ranking } = this
    const end = starts[toWord]!
    for (let at = starts[fromWord]!; at < end; at++) {
      const label = labels[at]!
      const length = label & LENGTH_BITS
      const alias = label >= IS_ALIAS
      if (length === whole)
        ranking.put(entries[at]!, alias ? EXACT_ALIAS : label & IS_BARE ? EXACT_BARE_NAME : EXACT_NAME, length)
      else {
        const coverage = letters < length ? letters / length : 1
        const worth = labelWorth(coverage, (label & BEGINS) !== 0, true, alias) * agreement * 0.01
        ranking.put(entries[at]!, Math.min(worth, BELOW_EXACT), length)
      }
    }
  }

  /** Skills that hold all words: each word in turn keeps those that the words before it left. */
  private rankAll(scarcestFirst: QueryWord[], words: QueryWord[]): void {
    const { ranking } = this
    let candidates = 0
    for (let i = 0; i < scarcestFirst.length; i++) {
      const word = scarcestFirst[i]!
      if (i > 0 && (!word.required || word.reach > candidates * WORTH_SIEVING)) break
      ranking.sieve(i === 0)
      this.eachStretch(word, (from, to) => ranking.keep(this.postings.entries, from, to))
      candidates = ranking.kept
      if (candidates === 0) return
    }
    for (let i = 0; i < candidates; i++) this.weigh(ranking.candidates[i]!, scarcestFirst, words)
  }

  /** Skills that hold at least half of what was asked, under whatever labels: no need to look at these one by one. */
  private rankSome(words: QueryWord[]): void {
    const { ranking, postings, labels } = this
    const { starts, entries } = postings
    const asked = words.reduce((sum, word) => sum + word.text.length, 0)
    ranking.sieve(true)
    for (const word of words) {
      ranking.nextTally()
      for (const id of word.byAgreement())
        ranking.tally(entries, starts[id]!, starts[id + 1]!, (word.text.length * word.agreement(id)) / 100)
      ranking.tally(entries, starts[word.from]!, starts[word.to]!, (word.text.length * PREFIX) / 100)
    }
    ranking.eachTallied((entry, agreed) => {
      if (agreed / asked < PARTIAL) return
      ranking.put(entry, (SCATTERED * PARTIAL * agreed) / asked, labels.lengths[labels.labelStarts[entry]!]!)
    })
  }

  private eachStretch(word: QueryWord, visit: (from: number, to: number) => void): void {
    const { starts } = this.postings
    visit(starts[word.from]!, starts[word.to]!)
    for (const id of word.near) visit(starts[id]!, starts[id + 1]!)
  }

  /** Holds every label of a skill against all words of the query. */
  private weigh(entry: number, scarcestFirst: QueryWord[], words: QueryWord[]): void {
    const { labelStarts, wordStarts, words: labelWords, lengths, kinds } = this.labels
    const first = labelStarts[entry]!
    const last = labelStarts[entry + 1]!
    let best = 0
    let length = 0
    for (let label = first; label < last; label++) {
      const from = wordStarts[label]!
      const to = wordStarts[label + 1]!
      let whole = true
      for (let i = 0; whole && i < scarcestFirst.length; i++) whole = scarcestFirst[i]!.lookIn(labelWords, from, to)
      if (!whole) continue
      const score = scoreLabel(words, to - from, lengths[label]!, kinds[label]!)
      if (score > best) {
        best = score
        length = lengths[label]!
      }
    }
    if (best === 0) {
      for (const word of words) word.lookIn(labelWords, wordStarts[first]!, wordStarts[last]!)
      best = scoreScattered(words)
      length = lengths[first]!
    }
    if (best > 0) this.ranking.put(entry, best, length)
  }
}

/** The score of a label that holds all words. */
function scoreLabel(words: QueryWord[], labelCount: number, length: number, kind: number): number {
  let asked = 0
  let agreed = 0
  let ordered = true
  let exact = words.length === labelCount
  for (let i = 0; i < words.length; i++) {
    const { text, found, place } = words[i]!
    asked += text.length
    agreed += text.length * found
    if (i > 0 && place <= words[i - 1]!.place) ordered = false
    if (found !== EXACT) exact = false
  }
  if (exact && ordered) return kind === ALIAS ? EXACT_ALIAS : kind === BARE_NAME ? EXACT_BARE_NAME : EXACT_NAME
  const worth = labelWorth(Math.min(1, asked / length), words[0]!.place === 0, ordered, kind === ALIAS)
  return Math.min(BELOW_EXACT, (worth * agreed) / asked / 100)
}

/** The score of words that are all there, but under several labels. */
function scoreScattered(words: QueryWord[]): number {
  let asked = 0
  let agreed = 0
  for (const { text, found, required } of words) {
    if (found === 0 && required) return 0
    asked += text.length
    agreed += (text.length * found) / 100
  }
  return (SCATTERED * agreed) / asked
}
