import { extraLabelBonus, labelScore } from '../labels/label-score.ts'
import { ALIAS, BARE_NAME, type Labels, NAME } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import {
  BEGINS_LABEL,
  ENDS_LABEL,
  IS_ALIAS,
  IS_BARE_NAME,
  IS_IN_SUB_SKILL_NAME,
  IS_WHOLE_LABEL,
  LENGTH_MASK,
  type Postings,
  postingBonus,
} from '../labels/postings.ts'
import type { Ranking } from '../labels/ranking.ts'
import { stripHiringWords, stripRoleWords } from '../lexicon/filler-words.ts'
import { tokenize } from '../text/tokens.ts'
import {
  EXACT_AGREEMENT,
  isWholeWordAgreement,
  ONE_LETTER_PREFIX_AGREEMENT,
  PREFIX_AGREEMENT,
  QueryWord,
} from './query-words.ts'
import {
  compressScore,
  exactScore,
  isExactMatch,
  MAX_DOUBTFUL_SCORE,
  matchedLabelScore,
  SCATTERED_WORDS_FACTOR,
  SUB_SKILL_PRIOR_FACTOR,
  scatteredScore,
  WHOLE_LABEL_BONUS,
} from './scores.ts'

/**
 * Search by name. Each word of the query is expanded to the words of the catalogue that it may stand for (query-words.ts). The
 * postings of the rarest words give the candidates, and every label of a candidate is matched against all words. A query of one
 * word needs only its postings (postings.ts). If no skill contains all words, other readings of the query are tried: without
 * role words, with words joined or split, with typos in known words, and finally with words missing.
 *
 * The score of a skill combines the agreement of the words, the score of the label (scores.ts), and the prior of the skill
 * (prior.ts), which counts more the shorter the query is. It depends only on the query and the skill, so pages never overlap.
 * `search-reference.test.ts` states the same rules without an index.
 */

export interface SearchOptions<T> {
  offset: number
  limit: number
  filter?: ((entry: number) => boolean) | undefined
  /** Converts a hit; `entry` is the index of the skill in the entries. */
  convert: (entry: number, score: number) => T
}

export const MAX_QUERY_WORDS = 12
/** Matches a query that needs no tokenizer. */
const PLAIN_WORD = /^[a-z]+$/
/** Agreement of a word with the same stem that begins with the query's word: "painting" for "paint". */
export const INFLECTED_PREFIX_AGREEMENT = 95
/** Among the words with the typed prefix, a word gains up to this much by its share of their postings. */
export const MAX_FREQUENCY_BONUS = 6
/** The part of a query, by letters, that must match if words may be missing. */
export const MIN_PARTIAL_MATCH_FRACTION = 0.5
/** Reading a posting is this many times cheaper than scoring a skill. */
const POSTINGS_PER_SCORED_SKILL = 40
/** With more candidates than this, it is cheaper to expand a two-letter suffix to the words that have it. */
const MIN_POSTINGS_TO_EXPAND_SUFFIX = 100

/** The data structures that a search reads. */
export interface SearchData {
  labels: Labels
  postings: Postings
  nearWords: NearWords
  /** The prior of each skill, in thousandths. */
  priors: Uint8Array
  /** 1 for a skill of an imported taxonomy that is not verifiable. */
  importedOnly: Uint8Array
  ranking: Ranking
}

export class Search {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly priors: Uint8Array
  private readonly importedOnly: Uint8Array
  private readonly wordPool: QueryWord[] = []
  private readonly ranking: Ranking
  private readonly createQueryWord: () => QueryWord

  constructor({ labels, postings, nearWords, priors, importedOnly, ranking }: SearchData) {
    this.labels = labels
    this.postings = postings
    this.priors = priors
    this.importedOnly = importedOnly
    this.ranking = ranking
    this.createQueryWord = () => new QueryWord(labels.vocabulary, nearWords)
  }

  search<T>(query: string, { offset, limit, filter, convert }: SearchOptions<T>): { hits: T[]; total: number } {
    const words = PLAIN_WORD.test(query) ? [query] : distinctWords(tokenize(query))
    const { ranking } = this
    ranking.reset(filter)
    if (words.length > 0) {
      this.rankReading(words, false)
      const wordsWithoutHiring = stripHiringWords(words)
      if (ranking.bestScore <= MAX_DOUBTFUL_SCORE && wordsWithoutHiring.length < words.length)
        this.rankReading(wordsWithoutHiring, false)
      const contentWords = stripRoleWords(wordsWithoutHiring)
      if (ranking.size === 0 && contentWords.length < words.length) this.rankReading(contentWords, false)
      if (ranking.bestScore <= MAX_DOUBTFUL_SCORE) this.rankJoined(words)
      if (ranking.size === 0) this.rankSplit(words)
      if (ranking.size === 0) this.rankReading(words, true)
    }
    return { hits: ranking.mapPage(offset, limit, convert), total: ranking.size }
  }

  /** Ranks one reading of the query. `lenient` allows typos in known words and, if no skill contains all words, missing words. */
  private rankReading(words: string[], lenient: boolean): void {
    const queryWords: QueryWord[] = []
    let requiredWord: QueryWord | undefined
    let requiredCount = 0
    for (let i = 0; i < words.length; i++) {
      this.wordPool[i] ??= this.createQueryWord()
      const word = this.wordPool[i]!
      word.lookUp(words[i]!, i === 0, i === words.length - 1, lenient)
      queryWords.push(word)
      if (!word.required) continue
      requiredWord = word
      requiredCount++
    }
    if (queryWords.length === 1) this.rankOneWord(queryWords[0]!, 1)
    else if (requiredWord && requiredCount === 1) this.rankOneWordAndLetters(requiredWord, queryWords)
    else {
      let fewestPostings = Number.POSITIVE_INFINITY
      for (const word of queryWords) {
        word.postingCount = word.countPostings(this.postings)
        if (word.required && word.postingCount < fewestPostings) fewestPostings = word.postingCount
      }
      const firstWord = queryWords[0]!
      if (fewestPostings > MIN_POSTINGS_TO_EXPAND_SUFFIX && firstWord.postingCount === Number.POSITIVE_INFINITY) {
        firstWord.expandSuffix()
        firstWord.postingCount = firstWord.countPostings(this.postings)
      }
      const rarestFirst = [...queryWords].sort((a, b) => b.required - a.required || a.postingCount - b.postingCount)
      this.rankAllWords(rarestFirst, queryWords)
      if (lenient && this.ranking.size === 0) this.rankSomeWords(queryWords)
    }
    for (const word of queryWords) word.clear()
  }

  /** Ranks the query with two words joined: "data base" for database. */
  private rankJoined(words: string[]): void {
    for (let i = 0; i + 1 < words.length; i++) {
      const joinedWord = words[i]! + words[i + 1]!
      if (this.labels.vocabulary.find(joinedWord) >= 0)
        this.rankReading([...words.slice(0, i), joinedWord, ...words.slice(i + 2)], false)
    }
  }

  /** Ranks the query with a word split in two: "weldingmachine" for welding machine. */
  private rankSplit(words: string[]): void {
    const { vocabulary } = this.labels
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      for (let cut = 2; cut <= word.length - 2; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          this.rankReading([...words.slice(0, i), left, right, ...words.slice(i + 1)].slice(0, MAX_QUERY_WORDS), false)
      }
    }
  }

  /** Ranks the skills of a word, and higher if they also match the single letters next to it: "inspect b". */
  private rankOneWordAndLetters(word: QueryWord, words: QueryWord[]): void {
    const { ranking } = this
    const letterCount = words.reduce((sum, { text }) => sum + text.length, 0)
    this.rankOneWord(word, word.text.length / letterCount)
    const letterPostingCount = words.reduce(
      (sum, other) => (other === word ? sum : sum + other.countPostings(this.postings)),
      0,
    )
    ranking.startPass(true)
    if (letterPostingCount < word.countPostings(this.postings) * POSTINGS_PER_SCORED_SKILL) {
      for (const other of words) if (other !== word) this.collectCandidates(other)
      ranking.startPass(false)
    }
    this.collectCandidates(word)
    const { candidateCount } = ranking
    for (let i = 0; i < candidateCount; i++) this.scoreSkill(ranking.candidates[i]!, words, words)
  }

  /** Ranks the skills of a word; `partOfQuery` is its share of the letters of the query, from 0 to 1. */
  private rankOneWord(word: QueryWord, partOfQuery: number): void {
    const { text, exactWord, prefixStart, prefixEnd, similarWords } = word
    const { starts } = this.postings
    const { words, stems } = this.labels.vocabulary
    const stem = exactWord < 0 ? -1 : stems[exactWord]
    const rangePostingCount = starts[prefixEnd]! - starts[prefixStart]!
    const prefixAgreement = text.length > 1 ? PREFIX_AGREEMENT : ONE_LETTER_PREFIX_AGREEMENT
    for (let id = prefixStart; id < prefixEnd; id++) {
      if (id === exactWord) this.rankPostings(id, EXACT_AGREEMENT, text.length, true, partOfQuery)
      else if (stems[id] === stem)
        this.rankPostings(id, INFLECTED_PREFIX_AGREEMENT, words[id]!.length, true, partOfQuery)
      else {
        const frequency = (starts[id + 1]! - starts[id]!) / rangePostingCount
        this.rankPostings(id, prefixAgreement + MAX_FREQUENCY_BONUS * frequency, text.length, false, partOfQuery)
      }
    }
    for (const id of similarWords) {
      // A misspelt word counts with all its letters, a substring only with the typed ones.
      const agreement = word.agreementWith(id)
      const isWhole = isWholeWordAgreement(agreement)
      this.rankPostings(id, agreement, isWhole ? words[id]!.length : text.length, isWhole, partOfQuery)
    }
  }

  /** Ranks the skills of a word of the catalogue, of which `letters` letters were typed. */
  private rankPostings(word: number, agreement: number, letters: number, isWhole: boolean, partOfQuery: number): void {
    const { starts, entries, bestLabels } = this.postings
    const { ranking, priors, importedOnly } = this
    const postingsEnd = starts[word + 1]!
    for (let at = starts[word]!; at < postingsEnd; at++) {
      const entry = entries[at]!
      const label = bestLabels[at]!
      const length = label & LENGTH_MASK
      const isAlias = label >= IS_ALIAS
      if (agreement === EXACT_AGREEMENT && partOfQuery === 1 && label & IS_WHOLE_LABEL) {
        const kind = isAlias ? ALIAS : label & IS_BARE_NAME ? BARE_NAME : NAME
        ranking.add(entry, exactScore(kind, importedOnly[entry] === 1), length)
        continue
      }
      const coverage = letters < length ? letters / length : 1
      let score =
        labelScore(coverage, (label & BEGINS_LABEL) !== 0, (label & ENDS_LABEL) !== 0, true, isAlias) *
        agreement *
        0.01 *
        partOfQuery
      score += (label & IS_IN_SUB_SKILL_NAME ? SUB_SKILL_PRIOR_FACTOR : 1) * 0.001 * priors[entry]!
      if (isWhole) score += postingBonus(label)
      else if (letters > 1 && label & IS_WHOLE_LABEL) score += WHOLE_LABEL_BONUS
      ranking.add(entry, compressScore(score), length)
    }
  }

  /** Ranks the skills that contain all words: each word in turn reduces the candidates of the words before it. */
  private rankAllWords(rarestFirst: QueryWord[], words: QueryWord[]): void {
    const { ranking } = this
    let candidateCount = 0
    for (let i = 0; i < rarestFirst.length; i++) {
      const word = rarestFirst[i]!
      if (i > 0 && (!word.required || word.postingCount > candidateCount * POSTINGS_PER_SCORED_SKILL)) break
      ranking.startPass(i === 0)
      this.collectCandidates(word)
      candidateCount = ranking.candidateCount
      if (candidateCount === 0) return
    }
    for (let i = 0; i < candidateCount; i++) this.scoreSkill(ranking.candidates[i]!, rarestFirst, words)
  }

  /** Ranks the skills that contain at least half of the query in any of their labels, from the postings alone. */
  private rankSomeWords(words: QueryWord[]): void {
    const { ranking, postings, labels } = this
    const { starts, entries } = postings
    const letterCount = words.reduce((sum, word) => sum + word.text.length, 0)
    ranking.startPass(true)
    for (const word of words) {
      ranking.nextPointsWord()
      const addPoints = (from: number, to: number, agreement: number) =>
        ranking.addPoints(entries, starts[from]!, starts[to]!, (word.text.length * agreement) / 100)
      // Only the first points of a skill count, so better agreements come first.
      const similarWords = word.similarWordsByAgreement()
      const wordsBetterThanPrefix = similarWords.filter((id) => word.agreementWith(id) > PREFIX_AGREEMENT)
      for (const id of wordsBetterThanPrefix) addPoints(id, id + 1, word.agreementWith(id))
      addPoints(word.prefixStart, word.prefixEnd, PREFIX_AGREEMENT)
      for (const id of similarWords.slice(wordsBetterThanPrefix.length)) addPoints(id, id + 1, word.agreementWith(id))
    }
    ranking.drainPoints((entry, agreed) => {
      if (agreed / letterCount < MIN_PARTIAL_MATCH_FRACTION) return
      const nameLength = labels.lengths[labels.labelStarts[entry]!]!
      ranking.add(entry, (SCATTERED_WORDS_FACTOR * MIN_PARTIAL_MATCH_FRACTION * agreed) / letterCount, nameLength)
    })
  }

  /** Adds the skills of a word to the candidates of the current pass. */
  private collectCandidates(word: QueryWord): void {
    const { starts, entries } = this.postings
    this.ranking.collect(entries, starts[word.prefixStart]!, starts[word.prefixEnd]!)
    for (const id of word.similarWords) this.ranking.collect(entries, starts[id]!, starts[id + 1]!)
  }

  /** Matches every label of a skill against all words of the query and ranks the skill by the best one. */
  private scoreSkill(entry: number, rarestFirst: QueryWord[], words: QueryWord[]): void {
    const { labelStarts, wordStarts, words: labelWords, lengths, kinds } = this.labels
    const firstLabel = labelStarts[entry]!
    const endLabel = labelStarts[entry + 1]!
    let bestScore = 0
    let labelLength = 0
    let matchingLabels = 0
    for (let label = firstLabel; label < endLabel; label++) {
      const firstWord = wordStarts[label]!
      const endWord = wordStarts[label + 1]!
      let matches = true
      for (let i = 0; matches && i < rarestFirst.length; i++)
        matches = rarestFirst[i]!.matchLabel(labelWords, firstWord, endWord)
      if (!matches) continue
      if (isExactMatch(words, endWord - firstWord)) {
        // The name is the first label, so it takes precedence over aliases.
        this.ranking.add(entry, exactScore(kinds[label]!, this.importedOnly[entry] === 1), lengths[label]!)
        return
      }
      matchingLabels++
      const score = matchedLabelScore(words, endWord - firstWord, lengths[label]!, kinds[label]!)
      if (score <= bestScore) continue
      bestScore = score
      labelLength = lengths[label]!
    }
    if (matchingLabels === 0) {
      for (const word of words) word.matchLabel(labelWords, wordStarts[firstLabel]!, wordStarts[endLabel]!)
      bestScore = scatteredScore(words)
      if (bestScore === 0) return
      labelLength = lengths[firstLabel]!
    }
    const bonus = matchingLabels > 1 ? extraLabelBonus(matchingLabels - 1) : 0
    const prior = (0.001 * this.priors[entry]!) / words.length
    this.ranking.add(entry, compressScore(bestScore + (bonus + prior)), labelLength)
  }
}

function distinctWords(words: string[]): string[] {
  return (words.length < 2 ? words : [...new Set(words)]).slice(0, MAX_QUERY_WORDS)
}
