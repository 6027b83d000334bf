import { withoutAsking } from './filler-words.ts'
import { ALIAS, BARE_NAME, type Labels } from './labels.ts'
import type { NearWords } from './near-words.ts'
import {
  BEGINS,
  ENDS,
  IS_ALIAS,
  IS_BARE,
  IS_WHOLE,
  LENGTH_BITS,
  labelWorth,
  MOST_MORE,
  moreWorth,
  ONE_MORE,
  type Postings,
} from './postings.ts'
import { EXACT, isOneWord, ONE_LETTER, PREFIX, QueryWord } from './query-words.ts'
import type { Ranking } from './ranking.ts'
import { wordsOf } from './tokens.ts'

/**
 * Search by name. Each word of the query is turned into the words of the catalogue it may stand for (query-words.ts);
 * the word with the fewest skills behind it leads to the candidates, and every label of a candidate is held
 * against all words. A query of one word needs no labels: its list says enough (postings.ts). When nothing holds all words, those
 * that only ask are left out, words are joined or parted, then typos are allowed in words that are known, and at last words may
 * be missing.
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
/** What a skill is worth more that people can be tested on: recruiters mean these. */
const VERIFIABLE = 0.02
/** Words found under several labels of one skill, none of which holds them all. */
const SCATTERED = 0.55
/** A score up to this is that of words scattered so. */
const NOT_ONE_LABEL = 0.62
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

  constructor(labels: Labels, postings: Postings, nearWords: NearWords, ranking: Ranking) {
    this.labels = labels
    this.postings = postings
    this.ranking = ranking
    this.newQueryWord = () => new QueryWord(labels.vocabulary, nearWords)
  }

  search(query: string, { offset = 0, limit = 20, filter }: SearchOptions = {}): { hits: SearchHit[]; total: number } {
    const words = [...new Set(wordsOf(query))].slice(0, MAX_WORDS)
    const { ranking } = this
    ranking.begin(filter)
    if (words.length > 0) {
      this.rank(words, false)
      const telling = withoutAsking(words)
      if (ranking.size === 0 && telling.length < words.length) this.rank(telling, false)
      if (ranking.highest <= NOT_ONE_LABEL) this.rankJoined(words)
      if (ranking.size === 0) this.rankParted(words)
      if (ranking.size === 0) this.rank(words, true)
    }
    return { hits: ranking.page(offset, limit), total: ranking.size }
  }

  /** `lenient` allows typos in words that are known and, where nothing holds all words, lets some be missing. */
  private rank(words: string[], lenient: boolean): void {
    const queryWords = words.map((word, i) => {
      this.pool[i] ??= this.newQueryWord()
      this.pool[i].read(word, i === 0, i === words.length - 1, lenient)
      return this.pool[i]
    })
    const needed = queryWords.filter((word) => word.required)
    if (queryWords.length === 1) this.rankOneWord(queryWords[0]!, 1)
    else if (needed.length === 1) this.rankOneAndLetters(needed[0]!, queryWords)
    else {
      for (const word of queryWords) word.reach = word.reachIn(this.postings)
      const scarcestFirst = [...queryWords].sort((a, b) => b.required - a.required || a.reach - b.reach)
      this.rankAll(scarcestFirst, queryWords)
      if (lenient && this.ranking.size === 0) this.rankSome(queryWords)
    }
    for (const word of queryWords) word.forget()
  }

  /** "data base" for database. */
  private rankJoined(words: string[]): void {
    for (let i = 0; i + 1 < words.length; i++) {
      const joined = words[i]! + words[i + 1]!
      if (this.labels.vocabulary.find(joined) >= 0)
        this.rank([...words.slice(0, i), joined, ...words.slice(i + 2)], false)
    }
  }

  /** "weldingmachine" for welding machine. */
  private rankParted(words: string[]): void {
    const { vocabulary } = this.labels
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      for (let cut = 2; cut <= word.length - 2; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          this.rank([...words.slice(0, i), left, right, ...words.slice(i + 1)].slice(0, MAX_WORDS), false)
      }
    }
  }

  /** Ranks the skills of a word, and those of them higher that also hold the single letters beside it: "inspect b". */
  private rankOneAndLetters(word: QueryWord, words: QueryWord[]): void {
    const { ranking } = this
    const asked = words.reduce((sum, { text }) => sum + text.length, 0)
    this.rankOneWord(word, word.text.length / asked)
    ranking.sieve(true)
    for (const other of words)
      if (other !== word) this.eachStretch(other, (from, to) => ranking.keep(this.postings.entries, from, to))
    ranking.sieve(false)
    this.eachStretch(word, (from, to) => ranking.keep(this.postings.entries, from, to))
    const { kept } = ranking
    for (let i = 0; i < kept; i++) this.weigh(ranking.candidates[i]!, words, words)
  }

  /** Ranks the skills of a word that makes up so much of the query. */
  private rankOneWord(word: QueryWord, part: number): void {
    const { starts } = this.postings
    const letters = word.text.length
    const exact = word.exact
    const prefix = letters > 1 ? PREFIX : ONE_LETTER
    if (exact >= 0) {
      this.rankStretch(word.from, exact, prefix, letters, part)
      this.rankStretch(exact, exact + 1, EXACT, letters, part)
      this.rankStretch(exact + 1, word.to, prefix, letters, part)
    } else if (starts[word.to]! > starts[word.from]!) this.rankStretch(word.from, word.to, prefix, letters, part)
    const { words } = this.labels.vocabulary
    for (const id of word.near) {
      const agreement = word.agreement(id)
      // A word misspelt is the whole word, a piece of one is not.
      this.rankStretch(id, id + 1, agreement, isOneWord(agreement) ? words[id]!.length : letters, part)
    }
  }

  /** Ranks the skills of a stretch of words, of which so many letters were asked for. */
  private rankStretch(fromWord: number, toWord: number, agreement: number, letters: number, part: number): void {
    const { starts, entries, labels } = this.postings
    const { ranking } = this
    const { verifiable } = this.labels
    const whole = agreement === EXACT || isOneWord(agreement)
    const end = starts[toWord]!
    for (let at = starts[fromWord]!; at < end; at++) {
      const label = labels[at]!
      const length = label & LENGTH_BITS
      const alias = label >= IS_ALIAS
      if (agreement === EXACT && part === 1 && label & IS_WHOLE)
        ranking.put(entries[at]!, alias ? EXACT_ALIAS : label & IS_BARE ? EXACT_BARE_NAME : EXACT_NAME, length)
      else {
        const coverage = letters < length ? letters / length : 1
        const ends = whole && (label & ENDS) !== 0
        const worth = labelWorth(coverage, (label & BEGINS) !== 0, ends, true, alias) * agreement * 0.01 * part
        const entry = entries[at]!
        const more = (whole ? moreWorth(label) : 0) + (verifiable[entry] ? VERIFIABLE : 0)
        ranking.put(entry, Math.min(worth + more, BELOW_EXACT), length)
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
    const { labelStarts, wordStarts, words: labelWords, lengths, kinds, verifiable } = this.labels
    const first = labelStarts[entry]!
    const last = labelStarts[entry + 1]!
    let best = 0
    let length = 0
    let holding = 0
    for (let label = first; label < last; label++) {
      const from = wordStarts[label]!
      const to = wordStarts[label + 1]!
      let whole = true
      for (let i = 0; whole && i < scarcestFirst.length; i++) whole = scarcestFirst[i]!.lookIn(labelWords, from, to)
      if (!whole) continue
      holding++
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
    if (best > 0 && best < BELOW_EXACT) {
      const more = Math.min(MOST_MORE, Math.max(0, holding - 1)) * ONE_MORE + (verifiable[entry] ? VERIFIABLE : 0)
      best = Math.min(best + more, BELOW_EXACT)
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
  const begins = words[0]!.place === 0
  const last = words[words.length - 1]!
  const ends = last.found === EXACT && last.place === labelCount - 1
  const worth = labelWorth(Math.min(1, asked / length), begins, ends, ordered, kind === ALIAS)
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
