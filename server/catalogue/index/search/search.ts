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
  postingExtraLabelBonus,
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
  exactMatchScore,
  isExactMatch,
  MAX_DOUBTFUL_SCORE,
  matchedLabelScore,
  SCATTERED_WORDS_FACTOR,
  SUB_SKILL_PRIOR_FACTOR,
  scatteredScore,
  WHOLE_LABEL_BONUS,
} from './scores.ts'

/**
 * Search for skills by name or alias.
 *
 * 1. Query expansion: for each query word, find the catalogue words that the user may mean (query-words.ts).
 * 2. Candidate skills: intersect the posting lists of the rarest words.
 * 3. Scoring: compare every label of each candidate skill with all query words. A query of one word skips this step, because its
 *    postings contain everything that its score needs (postings.ts).
 *
 * If this finds no skill, or only doubtful ones, variants of the query are tried: without hiring words, without role words, with
 * two words joined, with a word split, with typos in known words, and finally with missing words.
 *
 * A score consists of the agreement of the words (query-words.ts), the score of the label (scores.ts) and the prior of the skill
 * (prior.ts). The prior has more weight in a shorter query. A score depends only on the query and the skill, so pages of results
 * never overlap. `search-reference.test.ts` implements the same rules without an index.
 */

export interface SearchOptions<T> {
  offset: number
  limit: number
  /** Excludes the skills for which it returns false. `entryIndex` is the skill's index in the sorted entries (labels.ts). */
  filter?: ((entryIndex: number) => boolean) | undefined
  /** Converts a hit to an item of the result page. */
  convert: (entryIndex: number, score: number) => T
}

export const MAX_QUERY_WORDS = 12
/** Matches a query of one word in lower-case Latin letters. The tokenizer would return it unchanged, so it is skipped. */
const PLAIN_WORD = /^[a-z]+$/
/** Agreement, in percent, of a word that begins with the query word and has the same stem: "painting" for "paint". */
export const INFLECTED_PREFIX_AGREEMENT = 95
/**
 * Maximum bonus, in percentage points of agreement, for a frequent word with the typed prefix. The bonus is proportional to the
 * word's share of the postings of all words with that prefix.
 */
export const MAX_FREQUENCY_BONUS = 6
/** Minimum fraction of the query's letters that a skill must match if words may be missing. */
export const MIN_PARTIAL_MATCH_FRACTION = 0.5
/** Minimum number of letters of each part of a word that is split. */
const MIN_SPLIT_PART_LENGTH = 2
/** Cost of scoring one skill: as much time as reading this many postings. */
const SCORING_COST_IN_POSTINGS = 40
/**
 * If the rarest word has more postings than this, a two-letter suffix is expanded to the words that end with it. With fewer
 * postings, it is cheaper to check the suffix in every label.
 */
const MIN_POSTINGS_TO_EXPAND_SUFFIX = 100

/** The data structures that a search reads. */
export interface SearchData {
  labels: Labels
  postings: Postings
  nearWords: NearWords
  /** By entry index: the prior of the skill, in thousandths. */
  priors: Uint8Array
  /** By entry index: 1 if the skill was imported and is not preferred, else 0. */
  isOrdinaryImport: Uint8Array
  ranking: Ranking
}

export class Search {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly priors: Uint8Array
  private readonly isOrdinaryImport: Uint8Array
  /** Query words that are reused by the next query. Creating one allocates an array as long as the vocabulary. */
  private readonly wordPool: QueryWord[] = []
  private readonly ranking: Ranking
  private readonly createQueryWord: () => QueryWord

  constructor({ labels, postings, nearWords, priors, isOrdinaryImport, ranking }: SearchData) {
    this.labels = labels
    this.postings = postings
    this.priors = priors
    this.isOrdinaryImport = isOrdinaryImport
    this.ranking = ranking
    this.createQueryWord = () => new QueryWord(labels.vocabulary, nearWords)
  }

  search<T>(query: string, { offset, limit, filter, convert }: SearchOptions<T>): { hits: T[]; total: number } {
    const words = PLAIN_WORD.test(query) ? [query] : distinctWords(tokenize(query))
    const { ranking } = this
    ranking.reset(filter)
    if (words.length > 0) {
      this.rankVariant(words, false)
      const wordsWithoutHiring = stripHiringWords(words)
      if (ranking.bestScore <= MAX_DOUBTFUL_SCORE && wordsWithoutHiring.length < words.length)
        this.rankVariant(wordsWithoutHiring, false)
      const contentWords = stripRoleWords(wordsWithoutHiring)
      if (ranking.size === 0 && contentWords.length < words.length) this.rankVariant(contentWords, false)
      if (ranking.bestScore <= MAX_DOUBTFUL_SCORE) this.rankJoined(words)
      if (ranking.size === 0) this.rankSplit(words)
      if (ranking.size === 0) this.rankVariant(words, true)
    }
    return { hits: ranking.mapPage(offset, limit, convert), total: ranking.size }
  }

  /**
   * Ranks the skills for one variant of the query. If `isLenient` is set, a word of the catalogue may also be a typo of another
   * word, and words may be missing if no skill contains all of them.
   */
  private rankVariant(words: string[], isLenient: boolean): void {
    const queryWords: QueryWord[] = []
    let requiredWord: QueryWord | undefined
    let requiredCount = 0
    for (let i = 0; i < words.length; i++) {
      this.wordPool[i] ??= this.createQueryWord()
      const word = this.wordPool[i]!
      word.findSimilarWords(words[i]!, i === 0, i === words.length - 1, isLenient)
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
      const wordsByRarity = [...queryWords].sort((a, b) => b.required - a.required || a.postingCount - b.postingCount)
      this.rankAllWords(wordsByRarity, queryWords)
      if (isLenient && this.ranking.size === 0) this.rankSomeWords(queryWords)
    }
    for (const word of queryWords) word.clear()
  }

  /** Ranks the variants of the query with two adjacent words joined: "database" for the query "data base". */
  private rankJoined(words: string[]): void {
    for (let i = 0; i + 1 < words.length; i++) {
      const joinedWord = words[i]! + words[i + 1]!
      if (this.labels.vocabulary.find(joinedWord) >= 0)
        this.rankVariant([...words.slice(0, i), joinedWord, ...words.slice(i + 2)], false)
    }
  }

  /** Ranks the variants of the query with one word split: "welding machine" for the query "weldingmachine". */
  private rankSplit(words: string[]): void {
    const { vocabulary } = this.labels
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      for (let cut = MIN_SPLIT_PART_LENGTH; cut <= word.length - MIN_SPLIT_PART_LENGTH; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          this.rankVariant([...words.slice(0, i), left, right, ...words.slice(i + 1)].slice(0, MAX_QUERY_WORDS), false)
      }
    }
  }

  /**
   * Ranks a query of one word and single letters, such as "inspect b". Every skill that contains the word is a hit. A skill that
   * also contains a word for a letter ("Inspect bridges") gets a higher score.
   */
  private rankOneWordAndLetters(word: QueryWord, words: QueryWord[]): void {
    const { ranking } = this
    const letterCount = words.reduce((sum, { text }) => sum + text.length, 0)
    this.rankOneWord(word, word.text.length / letterCount)
    const letterPostingCount = words.reduce(
      (sum, other) => (other === word ? sum : sum + other.countPostings(this.postings)),
      0,
    )
    ranking.startPass(true)
    if (letterPostingCount < word.countPostings(this.postings) * SCORING_COST_IN_POSTINGS) {
      for (const other of words) if (other !== word) this.collectCandidates(other)
      ranking.startPass(false)
    }
    this.collectCandidates(word)
    const { candidateCount } = ranking
    for (let i = 0; i < candidateCount; i++) this.scoreSkill(ranking.candidates[i]!, words, words)
  }

  /** Ranks the skills that contain the word. `queryFraction` is the word's share of the letters of the query, from 0 to 1. */
  private rankOneWord(word: QueryWord, queryFraction: number): void {
    const { text, exactWord, prefixStart, prefixEnd, similarWords } = word
    const { starts } = this.postings
    const { words, stems } = this.labels.vocabulary
    const stem = exactWord < 0 ? -1 : stems[exactWord]
    const prefixPostingCount = starts[prefixEnd]! - starts[prefixStart]!
    const prefixAgreement = text.length > 1 ? PREFIX_AGREEMENT : ONE_LETTER_PREFIX_AGREEMENT
    for (let wordNumber = prefixStart; wordNumber < prefixEnd; wordNumber++) {
      if (wordNumber === exactWord) this.rankPostings(wordNumber, EXACT_AGREEMENT, text.length, true, queryFraction)
      else if (stems[wordNumber] === stem)
        this.rankPostings(wordNumber, INFLECTED_PREFIX_AGREEMENT, words[wordNumber]!.length, true, queryFraction)
      else {
        const frequency = (starts[wordNumber + 1]! - starts[wordNumber]!) / prefixPostingCount
        this.rankPostings(
          wordNumber,
          prefixAgreement + MAX_FREQUENCY_BONUS * frequency,
          text.length,
          false,
          queryFraction,
        )
      }
    }
    for (const wordNumber of similarWords) {
      // If the query word is a typo, the whole catalogue word counts as typed. If it is a substring, only its letters count.
      const agreement = word.agreementWith(wordNumber)
      const isWholeWord = isWholeWordAgreement(agreement)
      this.rankPostings(
        wordNumber,
        agreement,
        isWholeWord ? words[wordNumber]!.length : text.length,
        isWholeWord,
        queryFraction,
      )
    }
  }

  /** Ranks the skills in the posting list of a catalogue word. `typedLetters` is the number of its letters that were typed. */
  private rankPostings(
    wordNumber: number,
    agreement: number,
    typedLetters: number,
    isWholeWord: boolean,
    queryFraction: number,
  ): void {
    const { starts, entryIndexes, bestLabels } = this.postings
    const { ranking, priors, isOrdinaryImport } = this
    const postingsEnd = starts[wordNumber + 1]!
    for (let at = starts[wordNumber]!; at < postingsEnd; at++) {
      const entryIndex = entryIndexes[at]!
      const packedLabel = bestLabels[at]!
      const length = packedLabel & LENGTH_MASK
      const isAlias = packedLabel >= IS_ALIAS
      if (agreement === EXACT_AGREEMENT && queryFraction === 1 && packedLabel & IS_WHOLE_LABEL) {
        const kind = isAlias ? ALIAS : packedLabel & IS_BARE_NAME ? BARE_NAME : NAME
        ranking.add(entryIndex, exactMatchScore(kind, isOrdinaryImport[entryIndex] === 1), length)
        continue
      }
      const coverage = typedLetters < length ? typedLetters / length : 1
      let score =
        labelScore(coverage, (packedLabel & BEGINS_LABEL) !== 0, (packedLabel & ENDS_LABEL) !== 0, true, isAlias) *
        agreement *
        0.01 *
        queryFraction
      score += (packedLabel & IS_IN_SUB_SKILL_NAME ? SUB_SKILL_PRIOR_FACTOR : 1) * 0.001 * priors[entryIndex]!
      if (isWholeWord) score += postingExtraLabelBonus(packedLabel)
      else if (typedLetters > 1 && packedLabel & IS_WHOLE_LABEL) score += WHOLE_LABEL_BONUS
      ranking.add(entryIndex, compressScore(score), length)
    }
  }

  /**
   * Ranks the skills that contain all words. Intersects posting lists, the shortest first, until scoring the remaining skills is
   * cheaper than reading the next list.
   */
  private rankAllWords(wordsByRarity: QueryWord[], words: QueryWord[]): void {
    const { ranking } = this
    let candidateCount = 0
    for (let i = 0; i < wordsByRarity.length; i++) {
      const word = wordsByRarity[i]!
      if (i > 0 && (!word.required || word.postingCount > candidateCount * SCORING_COST_IN_POSTINGS)) break
      ranking.startPass(i === 0)
      this.collectCandidates(word)
      candidateCount = ranking.candidateCount
      if (candidateCount === 0) return
    }
    for (let i = 0; i < candidateCount; i++) this.scoreSkill(ranking.candidates[i]!, wordsByRarity, words)
  }

  /** Ranks the skills whose labels together contain at least half of the query's letters. Matches with posting lists only. */
  private rankSomeWords(words: QueryWord[]): void {
    const { ranking, postings, labels } = this
    const { starts, entryIndexes } = postings
    const letterCount = words.reduce((sum, word) => sum + word.text.length, 0)
    ranking.startPass(true)
    for (const word of words) {
      ranking.startNextQueryWord()
      const addPoints = (from: number, to: number, agreement: number) =>
        ranking.addPoints(entryIndexes, starts[from]!, starts[to]!, (word.text.length * agreement) / 100)
      // A skill gets points only once per query word, so the words with the best agreement are processed first.
      const similarWords = word.similarWordsByAgreement()
      const wordsBetterThanPrefix = similarWords.filter(
        (wordNumber) => word.agreementWith(wordNumber) > PREFIX_AGREEMENT,
      )
      for (const wordNumber of wordsBetterThanPrefix)
        addPoints(wordNumber, wordNumber + 1, word.agreementWith(wordNumber))
      addPoints(word.prefixStart, word.prefixEnd, PREFIX_AGREEMENT)
      for (const wordNumber of similarWords.slice(wordsBetterThanPrefix.length))
        addPoints(wordNumber, wordNumber + 1, word.agreementWith(wordNumber))
    }
    ranking.drainPoints((entryIndex, agreedLetters) => {
      if (agreedLetters / letterCount < MIN_PARTIAL_MATCH_FRACTION) return
      const nameLabel = labels.labelStarts[entryIndex]! // the first label of an entry is its name
      const nameLength = labels.letterCounts[nameLabel]!
      ranking.add(
        entryIndex,
        (SCATTERED_WORDS_FACTOR * MIN_PARTIAL_MATCH_FRACTION * agreedLetters) / letterCount,
        nameLength,
      )
    })
  }

  /** Adds the skills that contain the word, or a similar one, to the candidate skills of the current pass. */
  private collectCandidates(word: QueryWord): void {
    const { starts, entryIndexes } = this.postings
    this.ranking.collect(entryIndexes, starts[word.prefixStart]!, starts[word.prefixEnd]!)
    for (const wordNumber of word.similarWords)
      this.ranking.collect(entryIndexes, starts[wordNumber]!, starts[wordNumber + 1]!)
  }

  /** Compares every label of a skill with all query words, and ranks the skill by its best label. */
  private scoreSkill(entryIndex: number, wordsByRarity: QueryWord[], words: QueryWord[]): void {
    const { labelStarts, wordStarts, words: labelWords, letterCounts, kinds } = this.labels
    const firstLabel = labelStarts[entryIndex]!
    const endLabel = labelStarts[entryIndex + 1]!
    let bestScore = 0
    let labelLength = 0
    let matchingLabelCount = 0
    for (let label = firstLabel; label < endLabel; label++) {
      const firstWord = wordStarts[label]!
      const endWord = wordStarts[label + 1]!
      let matchesAllWords = true
      for (let i = 0; matchesAllWords && i < wordsByRarity.length; i++)
        matchesAllWords = wordsByRarity[i]!.matchLabel(labelWords, firstWord, endWord)
      if (!matchesAllWords) continue
      if (isExactMatch(words, endWord - firstWord)) {
        // The first label is the name, so an exact name takes precedence over an exact alias.
        this.ranking.add(
          entryIndex,
          exactMatchScore(kinds[label]!, this.isOrdinaryImport[entryIndex] === 1),
          letterCounts[label]!,
        )
        return
      }
      matchingLabelCount++
      const score = matchedLabelScore(words, endWord - firstWord, letterCounts[label]!, kinds[label]!)
      if (score <= bestScore) continue
      bestScore = score
      labelLength = letterCounts[label]!
    }
    if (matchingLabelCount === 0) {
      // No label contains all words, so the words are looked up in all labels together.
      for (const word of words) word.matchLabel(labelWords, wordStarts[firstLabel]!, wordStarts[endLabel]!)
      bestScore = scatteredScore(words)
      if (bestScore === 0) return
      labelLength = letterCounts[firstLabel]!
    }
    const bonus = matchingLabelCount > 1 ? extraLabelBonus(matchingLabelCount - 1) : 0
    const prior = (0.001 * this.priors[entryIndex]!) / words.length
    this.ranking.add(entryIndex, compressScore(bestScore + (bonus + prior)), labelLength)
  }
}

/** Returns the different words, at most MAX_QUERY_WORDS. */
function distinctWords(words: string[]): string[] {
  return (words.length < 2 ? words : [...new Set(words)]).slice(0, MAX_QUERY_WORDS)
}
