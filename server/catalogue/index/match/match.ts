import { ALIAS, type Labels } from '../labels/labels.ts'
import type { Postings } from '../labels/postings.ts'
import { MAX_SHORT_FORM_WORDS, shortForms, stopWords } from '../lexicon/lexicon.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { tokenize } from '../text/tokens.ts'
import type { LabelVectors } from '../vectors/label-vectors.ts'
import { stripApplicantWords } from './applicant-words.ts'
import { matchProbability } from './calibration.ts'
import { type Candidate, isExact, type MatchMethod, type Similarity } from './candidate.ts'
import { type LabelOverlaps, MAX_PHRASE_WORDS, NO_SIMILAR_WORD } from './label-overlaps.ts'
import { isStopPhrase, type PhraseWords, stemWeight } from './phrase-words.ts'
import { Preselection } from './preselection.ts'
import { bestCandidates } from './reranker.ts'
import { replaceSpokenPhrases } from './spoken-phrases.ts'

/**
 * Matches a phrase, such as "managing the staff", with the skills that it may mean.
 *
 * 1. Preselection: posting lists give the skills that share the most words with the phrase.
 * 2. Comparison: each label of these skills is compared with the phrase, word by word. The same stem counts as 100 %, a typo or a
 *    synonym as less. Each word is weighted by its inverse document frequency: a rare word counts more. The overlap of a phrase
 *    and a label is the geometric mean of the matched fraction of the phrase and the matched fraction of the label.
 * 3. Word vectors: the skills whose labels have the highest cosine with the phrase are candidates, too (label-vectors.ts). So a phrase
 *    also finds skills with which it has no word in common.
 * 4. Ranking: exact matches come first. The others are sorted by a linear model of the overlaps and the cosines (reranker.ts).
 * 5. Calibration: the score of a match is the probability that it is correct (calibration.ts).
 */

export interface MatchedEntry {
  /** Index of the skill in the sorted entries (labels.ts). */
  entryIndex: number
  score: number
  method: MatchMethod
}

/** Maximum number of respelt variants, and of reworded variants, of a phrase. */
const MAX_PHRASE_VARIANTS = 3
/** Minimum number of letters of each part of a word that is split. */
const MIN_SPLIT_PART_LENGTH = 3
/** A short form, such as HVAC, is expanded only if the phrase has at most this many other words. */
const MAX_WORDS_AROUND_SHORT_FORM = 5
/** A skill is a match only if the overlap of its best label is at least this. */
const MIN_LABEL_OVERLAP = 0.3
/** Maximum number of skills that are candidates because of their cosine, and the minimum of this cosine. */
const MAX_NEAREST_SKILLS = 30
const MIN_COSINE = 0.45

/** Added to the total of a skill if its best label is its name, and not an alias. */
const NAME_BONUS = 0.06
/** This fraction of the overlap of the name is added to the total of a skill. */
const NAME_OVERLAP_FACTOR = 0.3
/** Added to the total of a skill if the phrase equals its name, or one of its aliases. */
const EXACT_NAME_BONUS = 0.3
const EXACT_ALIAS_BONUS = 0.15
/** The total of a skill is multiplied by this if it matches a respelt or reworded variant of the phrase. */
const CHANGED_PHRASE_FACTOR = 0.95
/** Added to the total for each thousandth of the prior, so that general skills rank first among equally similar ones. */
const PRIOR_WEIGHT = 0.0009
/** Kinds of variants of a phrase. */
const AS_WRITTEN_VARIANT = 0
/** With words joined or split: "javascript" for "java script". */
const RESPELT_VARIANT = 1
/** With a short form expanded, or a spoken phrase replaced. */
const REWORDED_VARIANT = 2
/** The phrase as written, compared only with labels that are equal to it. Used for stop words and words about the applicant. */
const EXACT_ONLY_VARIANT = 3

export class Matcher {
  private readonly labels: Labels
  private readonly preselection: Preselection
  private readonly phraseWords: PhraseWords
  private readonly overlaps: LabelOverlaps
  private readonly priors: Uint8Array
  private readonly labelVectors: LabelVectors
  constructor(
    labels: Labels,
    postings: Postings,
    phraseWords: PhraseWords,
    overlaps: LabelOverlaps,
    priors: Uint8Array,
    labelVectors: LabelVectors,
  ) {
    this.labels = labels
    this.preselection = new Preselection(labels, postings)
    this.phraseWords = phraseWords
    this.overlaps = overlaps
    this.priors = priors
    this.labelVectors = labelVectors
  }

  match(phrase: string, limit: number): MatchedEntry[] {
    const candidates = bestCandidates(this.findCandidates(phrase), Math.max(limit, 2))
    // No match scores higher than the match before it.
    let score = 1
    return candidates.slice(0, limit).map((ranked, rank) => {
      const bestOther = candidates[rank === 0 ? 1 : 0]
      score = Math.min(score, matchProbability(ranked, bestOther, rank))
      const { entryIndex, method } = ranked.candidate
      return { entryIndex, method, score: Math.round(score * 10_000) / 10_000 }
    })
  }

  /** Returns all skills that a phrase may mean, in any order. */
  findCandidates(phrase: string): Candidate[] {
    const writtenWords = tokenize(phrase).slice(0, MAX_PHRASE_WORDS)
    const words = stripApplicantWords(writtenWords)
    const similarities = new Map<number, Similarity>()
    const hasOnlyStopWords = isStopPhrase(words)
    if (hasOnlyStopWords || words.length < writtenWords.length)
      this.compareVariant(writtenWords, EXACT_ONLY_VARIANT, similarities)
    if (!hasOnlyStopWords) {
      this.compareVariant(words, AS_WRITTEN_VARIANT, similarities)
      for (const variant of this.respeltVariants(words)) this.compareVariant(variant, RESPELT_VARIANT, similarities)
      for (const variant of rewordedVariants(words)) this.compareVariant(variant, REWORDED_VARIANT, similarities)
    }
    const knownFraction = this.labelVectors.setPhrase(hasOnlyStopWords ? [] : words)
    if (knownFraction > 0)
      for (const entryIndex of this.labelVectors.nearest(MAX_NEAREST_SKILLS, MIN_COSINE))
        if (!similarities.has(entryIndex)) similarities.set(entryIndex, NO_SIMILARITY)
    return [...similarities].map(([entryIndex, similarity]) => this.candidateOf(entryIndex, similarity, knownFraction))
  }

  /**
   * Adds the cosines and the other features. If only a fraction of the words has a vector, the overlaps take the place of the cosines for
   * the rest.
   */
  private candidateOf(entryIndex: number, similarity: Similarity, knownFraction: number): Candidate {
    const { labelStarts, wordStarts } = this.labels
    const { labelVectors } = this
    const firstLabel = labelStarts[entryIndex]!
    labelVectors.compare(entryIndex)
    const blend = (cosine: number, overlap: number) => knownFraction * cosine + (1 - knownFraction) * overlap
    // Copying all properties with `...similarity` takes much longer.
    return {
      total: similarity.total,
      overlap: similarity.overlap,
      nameOverlap: similarity.nameOverlap,
      phraseFraction: similarity.phraseFraction,
      labelFraction: similarity.labelFraction,
      method: similarity.method,
      entryIndex,
      nameCosine: blend(labelVectors.nameCosine, similarity.nameOverlap),
      bestCosine: blend(labelVectors.bestCosine, similarity.overlap),
      meanCosine: blend(labelVectors.meanCosine, similarity.nameOverlap),
      nameWordCount: wordStarts[firstLabel + 1]! - wordStarts[firstLabel]!,
      prior: this.priors[entryIndex]!,
    }
  }

  /** Returns variants with two words joined ("javascript" for "java script") or one word split ("raj mistri" for "rajmistri"). */
  private respeltVariants(words: string[]): string[][] {
    const { vocabulary } = this.labels
    const variants: string[][] = []
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      const nextWord = words[i + 1]
      if (nextWord && vocabulary.find(word + nextWord) >= 0)
        variants.push([...words.slice(0, i), word + nextWord, ...words.slice(i + 2)])
      if (vocabulary.find(word) >= 0) continue
      for (let cut = MIN_SPLIT_PART_LENGTH; cut <= word.length - MIN_SPLIT_PART_LENGTH; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          variants.push([...words.slice(0, i), left, right, ...words.slice(i + 1)])
      }
    }
    return variants.slice(0, MAX_PHRASE_VARIANTS)
  }

  /** Compares a variant with the preselected skills, and stores in `similarities` the highest similarity of each skill. */
  private compareVariant(words: string[], variant: number, similarities: Map<number, Similarity>): void {
    const contentWords = words.filter((word) => !stopWords.has(word))
    const comparedWords = [...new Set(contentWords.length ? contentWords : words)]
    const phraseWords = comparedWords.map((word) => this.phraseWords.get(word))
    this.overlaps.setPhrase(phraseWords)
    const wordNumbers = words.map((word) => this.labels.vocabulary.find(word))
    for (const entryIndex of this.preselection.select(phraseWords)) {
      const similarity = this.similarityOf(entryIndex, wordNumbers, variant)
      const similarityBefore = similarities.get(entryIndex)
      if (
        similarity &&
        (!similarityBefore || (similarity.total > similarityBefore.total && !isExact(similarityBefore)))
      )
        similarities.set(entryIndex, similarity)
    }
    this.overlaps.clear()
  }

  /** Returns the similarity of a skill to a variant of the phrase; undefined if the overlap is too small for a match. */
  private similarityOf(entryIndex: number, wordNumbers: number[], variant: number): Similarity | undefined {
    const { labelStarts, kinds } = this.labels
    const { overlaps } = this
    let bestTotal = 0
    let bestOverlap = 0
    let phraseFraction = 0
    let labelFraction = 0
    let nameOverlap = 0
    let method: MatchMethod = 'fuzzy'
    if (!overlaps.setSkill(entryIndex, MIN_LABEL_OVERLAP)) return undefined
    for (let label = labelStarts[entryIndex]!; label < labelStarts[entryIndex + 1]!; label++) {
      const overlapOfWords = overlaps.overlapOf(label)
      if (overlapOfWords === NO_SIMILAR_WORD) continue
      const isAlias = kinds[label] === ALIAS
      const isExactLabel =
        (variant === AS_WRITTEN_VARIANT || variant === EXACT_ONLY_VARIANT) && this.labelEquals(label, wordNumbers)
      const overlap = isExactLabel ? 1 : overlapOfWords
      if (!isAlias && overlap > nameOverlap) nameOverlap = overlap
      if (variant === EXACT_ONLY_VARIANT && !isExactLabel) continue
      const total =
        overlap + (isExactLabel ? (isAlias ? EXACT_ALIAS_BONUS : EXACT_NAME_BONUS) : 0) + (isAlias ? 0 : NAME_BONUS)
      if (total <= bestTotal) continue
      bestTotal = total
      bestOverlap = overlap
      phraseFraction = isExactLabel ? 1 : overlaps.phraseFraction
      labelFraction = isExactLabel ? 1 : overlaps.labelFraction
      method = isExactLabel
        ? isAlias
          ? 'alias'
          : 'exact'
        : variant === REWORDED_VARIANT || overlaps.usedSynonym
          ? 'semantic'
          : 'fuzzy'
    }
    if (bestOverlap < MIN_LABEL_OVERLAP) return undefined
    return {
      total:
        (bestTotal + NAME_OVERLAP_FACTOR * nameOverlap + PRIOR_WEIGHT * this.priors[entryIndex]!) *
        (variant === RESPELT_VARIANT || variant === REWORDED_VARIANT ? CHANGED_PHRASE_FACTOR : 1),
      overlap: bestOverlap,
      nameOverlap,
      phraseFraction,
      labelFraction,
      method,
    }
  }

  /** Whether the label has exactly these words, in this order. */
  private labelEquals(label: number, wordNumbers: number[]): boolean {
    const { wordStarts, words } = this.labels
    const firstWord = wordStarts[label]!
    if (wordStarts[label + 1]! - firstWord !== wordNumbers.length) return false
    return wordNumbers.every((wordNumber, i) => words[firstWord + i] === wordNumber)
  }
}

/** Similarity of a skill that is a candidate only because of its cosine. */
const NO_SIMILARITY: Similarity = {
  total: 0,
  overlap: 0,
  nameOverlap: 0,
  phraseFraction: 0,
  labelFraction: 0,
  method: 'semantic',
}

/** Returns variants with all spoken phrases replaced, or with one short form expanded. */
function rewordedVariants(words: string[]): string[][] {
  const replacedWords = replaceSpokenPhrases(words)
  const variants: string[][] = replacedWords ? [replacedWords] : []
  for (let from = 0; from < words.length; from++) {
    for (let to = from + 1; to <= Math.min(words.length, from + MAX_SHORT_FORM_WORDS); to++) {
      const longForm = shortForms.get(words.slice(from, to).join(' '))
      if (longForm && words.length - (to - from) <= MAX_WORDS_AROUND_SHORT_FORM)
        variants.push([...words.slice(0, from), ...longForm.split(' '), ...words.slice(to)].slice(0, MAX_PHRASE_WORDS))
    }
  }
  return variants.slice(0, MAX_PHRASE_VARIANTS)
}

/** Returns the weight of every stem of the catalogue, by stem number. */
export function* buildStemWeights(labels: Labels, postings: Postings): SlicedTask<Float32Array> {
  const { vocabulary } = labels
  const stemWeights = new Float32Array(vocabulary.stemCount)
  for (let stem = 0; stem < stemWeights.length; stem++) {
    let skillCount = 0
    for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
      const wordNumber = vocabulary.stemWords[i]!
      skillCount += postings.starts[wordNumber + 1]! - postings.starts[wordNumber]!
    }
    stemWeights[stem] = stemWeight(vocabulary.stemText(stem), skillCount, labels.names.length)
    if (stem % 2048 === 2047) yield
  }
  return stemWeights
}
