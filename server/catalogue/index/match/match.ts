import { ALIAS, type Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import { LENGTH_MASK, type Postings } from '../labels/postings.ts'
import type { Ranking } from '../labels/ranking.ts'
import { MAX_SHORT_FORM_WORDS, shortForms, stopWords } from '../lexicon/lexicon.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { tokenize } from '../text/tokens.ts'
import { stripApplicantWords } from './applicant-words.ts'
import { calibratedScore, type MatchMethod, type Similarity } from './calibration.ts'
import type { Paraphrases } from './paraphrases.ts'
import { IS_SYNONYM, isStopPhrase, PhraseWord, SIMILARITY_MASK, stemWeight } from './phrase-words.ts'
import { replaceSpokenPhrases } from './spoken-phrases.ts'

/**
 * Matches a phrase with the skills that it may mean. A phrase and a label are compared word by word: the same stem counts in
 * full, a typo or a paraphrase for less, and every word is weighted by its rarity in the catalogue. Their overlap is the
 * geometric mean of the matched part of both sides. The similarity of a skill is the overlap of its best label and part of the
 * overlap of its name. The score is the probability that a candidate this similar is right (calibration.ts).
 */

export interface MatchCandidate {
  entry: number
  score: number
  method: MatchMethod
}

const MAX_PHRASE_WORDS = 16
const MAX_PHRASE_VARIANTS = 3
/** A short form is written out only if at most this many other words are in the phrase. */
const MAX_WORDS_AROUND_SHORT_FORM = 5
/** Limits of the two steps: postings read to find candidates, and candidates compared word by word. */
const MAX_POSTINGS_READ = 20_000
const MAX_COMPARED_SKILLS = 192
const MIN_LABEL_OVERLAP = 0.3

const NAME_BONUS = 0.06
const NAME_OVERLAP_FACTOR = 0.3
const EXACT_NAME_BONUS = 0.3
const EXACT_ALIAS_BONUS = 0.15
/** Factor for a phrase that was respelt or reworded. */
const VARIANT_FACTOR = 0.95
/** Weight of one thousandth of the prior, which ranks general skills first among equally similar ones. */
const PRIOR_WEIGHT = 0.0009
/** Weight of a stop word at the beginning or end of a label, where it links nothing: "AT welding". */
const EDGE_STOP_WORD_WEIGHT = 2

/** Variants of a phrase: as written, with words joined or split, with other words of the same meaning. */
const AS_WRITTEN_VARIANT = 0
const RESPELT_VARIANT = 1
const REWORDED_VARIANT = 2
/** A phrase of stop words, which matches only a label that is equal to it. */
const EXACT_ONLY_VARIANT = 3

export class Matcher {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly nearWords: NearWords
  private readonly paraphrases: Paraphrases
  private readonly ranking: Ranking
  private readonly priors: Uint8Array
  private readonly stemWeights: Float32Array
  /** By skill: the part of the phrase's weight that it contains, and the last round in which it was counted. */
  private readonly weightSums: Float32Array
  private readonly lastRound: Int32Array
  private readonly foundEntries: Int32Array
  private round = 0
  private readonly wordPool: PhraseWord[] = []
  private readonly bestMarks = new Uint8Array(MAX_PHRASE_WORDS)
  /** Whether the label that was compared last matches through a synonym. */
  private usedSynonym = false

  constructor(
    labels: Labels,
    postings: Postings,
    nearWords: NearWords,
    paraphrases: Paraphrases,
    stemWeights: Float32Array,
    ranking: Ranking,
    priors: Uint8Array,
  ) {
    this.labels = labels
    this.postings = postings
    this.nearWords = nearWords
    this.paraphrases = paraphrases
    this.ranking = ranking
    this.priors = priors
    this.weightSums = new Float32Array(labels.names.length)
    this.lastRound = new Int32Array(labels.names.length)
    this.foundEntries = new Int32Array(labels.names.length)
    this.stemWeights = stemWeights
  }

  match(phrase: string, limit: number): MatchCandidate[] {
    const writtenWords = tokenize(phrase).slice(0, MAX_PHRASE_WORDS)
    const words = stripApplicantWords(writtenWords)
    const similarities = new Map<number, Similarity>()
    const isStopPhraseOnly = isStopPhrase(words)
    if (isStopPhraseOnly || words.length < writtenWords.length)
      this.compareVariant(writtenWords, EXACT_ONLY_VARIANT, similarities)
    if (!isStopPhraseOnly) {
      this.compareVariant(words, AS_WRITTEN_VARIANT, similarities)
      for (const variant of this.respelledVariants(words)) this.compareVariant(variant, RESPELT_VARIANT, similarities)
      for (const variant of rewordedVariants(words)) this.compareVariant(variant, REWORDED_VARIANT, similarities)
    }
    const ranked = [...similarities]
      .sort(([a, x], [b, y]) => Number(isExact(y)) - Number(isExact(x)) || y.total - x.total || a - b)
      .slice(0, Math.max(limit, 2))
    let maxScore = 1
    return ranked.slice(0, limit).map(([entry, similarity], i) => {
      maxScore = Math.min(maxScore, calibratedScore(similarity, ranked[i === 0 ? 1 : 0]?.[1], i))
      return { entry, method: similarity.method, score: Math.round(maxScore * 10_000) / 10_000 }
    })
  }

  /** Returns variants with two words joined or one word split: "java script" for JavaScript, "rajmistri" for raj mistri. */
  private respelledVariants(words: string[]): string[][] {
    const { vocabulary } = this.labels
    const variants: string[][] = []
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      const nextWord = words[i + 1]
      if (nextWord && vocabulary.find(word + nextWord) >= 0)
        variants.push([...words.slice(0, i), word + nextWord, ...words.slice(i + 2)])
      if (vocabulary.find(word) >= 0) continue
      for (let cut = 3; cut <= word.length - 3; cut++) {
        const [left, right] = [word.slice(0, cut), word.slice(cut)]
        if (vocabulary.find(left) >= 0 && vocabulary.find(right) >= 0)
          variants.push([...words.slice(0, i), left, right, ...words.slice(i + 1)])
      }
    }
    return variants.slice(0, MAX_PHRASE_VARIANTS)
  }

  /** Updates `best` with the skills that are more similar to this variant than to those before. */
  private compareVariant(words: string[], variant: number, similarities: Map<number, Similarity>): void {
    const contentWords = words.filter((word) => !stopWords.has(word))
    const comparedWords = [...new Set(contentWords.length ? contentWords : words)]
    const phrase = comparedWords.map((word, i) => {
      this.wordPool[i] ??= new PhraseWord(this.labels.vocabulary.stemCount)
      this.wordPool[i].lookUp(word, this.labels, this.paraphrases, this.nearWords, this.stemWeights)
      return this.wordPool[i]
    })
    const ids = words.map((word) => this.labels.vocabulary.find(word))
    for (const entry of this.findCandidates(phrase)) {
      const similarity = this.similarityOf(entry, phrase, ids, variant)
      const similarityBefore = similarities.get(entry)
      if (
        similarity &&
        (!similarityBefore || (similarity.total > similarityBefore.total && !isExact(similarityBefore)))
      )
        similarities.set(entry, similarity)
    }
    for (const word of phrase) word.clear()
  }

  /** Returns the skills that contain most of the phrase's weight, found through its rarest words first. */
  private findCandidates(phrase: PhraseWord[]): number[] {
    const { vocabulary } = this.labels
    const { starts, entries, bestLabels } = this.postings
    const { weightSums, lastRound, foundEntries, ranking } = this
    const totalWeight = phrase.reduce((sum, word) => sum + word.weight, 0) || 1
    const wordsWithCounts = phrase.map((word) => ({
      word,
      postings: word.similarStems.reduce((sum, { stem }) => sum + this.countPostings(stem), 0),
    }))
    let foundCount = 0
    let remainingPostings = MAX_POSTINGS_READ
    for (const { word, postings } of wordsWithCounts.sort((a, b) => a.postings - b.postings)) {
      if (foundCount > 0 && postings > remainingPostings) break
      remainingPostings -= postings
      this.round++
      for (const { stem, similarity } of word.similarStems) {
        const wordGain = (Math.max(word.weight, 0.01) * similarity) / 100 / totalWeight
        for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
          const id = vocabulary.stemWords[i]!
          const letters = vocabulary.words[id]!.length
          for (let at = starts[id]!; at < starts[id + 1]!; at++) {
            const entry = entries[at]!
            if (lastRound[entry] === this.round) continue
            lastRound[entry] = this.round
            if (weightSums[entry] === 0) foundEntries[foundCount++] = entry
            weightSums[entry]! += wordGain * (0.7 + (0.3 * letters) / (bestLabels[at]! & LENGTH_MASK))
          }
        }
      }
    }
    ranking.reset()
    for (let i = 0; i < foundCount; i++) {
      const entry = foundEntries[i]!
      ranking.add(entry, Math.min(1, weightSums[entry]!), 0)
      weightSums[entry] = 0
    }
    return ranking.page(0, MAX_COMPARED_SKILLS).map((hit) => hit.entry)
  }

  private countPostings(stem: number): number {
    const { vocabulary } = this.labels
    let count = 0
    for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
      const id = vocabulary.stemWords[i]!
      count += this.postings.starts[id + 1]! - this.postings.starts[id]!
    }
    return count
  }

  private similarityOf(entry: number, phrase: PhraseWord[], ids: number[], variant: number): Similarity | undefined {
    const { labelStarts, kinds } = this.labels
    let bestTotal = 0
    let bestOverlap = 0
    let nameOverlap = 0
    let method: MatchMethod = 'fuzzy'
    for (let label = labelStarts[entry]!; label < labelStarts[entry + 1]!; label++) {
      const isAlias = kinds[label] === ALIAS
      const isExactLabel =
        (variant === AS_WRITTEN_VARIANT || variant === EXACT_ONLY_VARIANT) && this.hasWords(label, ids)
      const overlap = isExactLabel ? 1 : this.overlapOf(label, phrase)
      if (!isAlias && overlap > nameOverlap) nameOverlap = overlap
      if (variant === EXACT_ONLY_VARIANT && !isExactLabel) continue
      const total =
        overlap + (isExactLabel ? (isAlias ? EXACT_ALIAS_BONUS : EXACT_NAME_BONUS) : 0) + (isAlias ? 0 : NAME_BONUS)
      if (total <= bestTotal) continue
      bestTotal = total
      bestOverlap = overlap
      method = isExactLabel
        ? isAlias
          ? 'alias'
          : 'exact'
        : variant === REWORDED_VARIANT || this.usedSynonym
          ? 'semantic'
          : 'fuzzy'
    }
    if (bestOverlap < MIN_LABEL_OVERLAP) return undefined
    return {
      total:
        (bestTotal + NAME_OVERLAP_FACTOR * nameOverlap + PRIOR_WEIGHT * this.priors[entry]!) *
        (variant === RESPELT_VARIANT || variant === REWORDED_VARIANT ? VARIANT_FACTOR : 1),
      overlap: bestOverlap,
      nameOverlap,
      method,
    }
  }

  /** Returns the geometric mean of the part of the phrase that is in the label and the part of the label that is in the phrase. */
  private overlapOf(label: number, phrase: PhraseWord[]): number {
    const { wordStarts, words, vocabulary } = this.labels
    const { stemWeights, bestMarks } = this
    for (let i = 0; i < phrase.length; i++) bestMarks[i] = 0
    let labelWeight = 0
    let labelMatched = 0
    for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
      const stem = vocabulary.stems[words[at]!]!
      for (let i = 0; i < phrase.length; i++) {
        const mark = phrase[i]!.marks[stem]!
        if ((mark & SIMILARITY_MASK) > (bestMarks[i]! & SIMILARITY_MASK)) bestMarks[i] = mark
      }
    }
    for (let at = wordStarts[label]!; at < wordStarts[label + 1]!; at++) {
      const stem = vocabulary.stems[words[at]!]!
      let best = 0
      for (let i = 0; i < phrase.length; i++) {
        const mark = phrase[i]!.marks[stem]!
        // A phrase of the one word "welding" matches the "welding" of "braze welding", not also its synonym "braze".
        if (phrase.length === 1 && mark & IS_SYNONYM && !(bestMarks[i]! & IS_SYNONYM)) continue
        if ((mark & SIMILARITY_MASK) > best) best = mark & SIMILARITY_MASK
      }
      const isEdge = stemWeights[stem] === 0 && (at === wordStarts[label] || at + 1 === wordStarts[label + 1])
      const weight = isEdge ? EDGE_STOP_WORD_WEIGHT : stemWeights[stem]!
      labelWeight += weight
      labelMatched += weight * best
    }
    let phraseWeight = 0
    let phraseMatched = 0
    this.usedSynonym = false
    for (let i = 0; i < phrase.length; i++) {
      phraseWeight += phrase[i]!.weight
      phraseMatched += phrase[i]!.weight * (bestMarks[i]! & SIMILARITY_MASK)
      if (bestMarks[i]! & IS_SYNONYM) this.usedSynonym = true
    }
    if (phraseWeight === 0 || labelWeight === 0) return phraseMatched > 0 || labelMatched > 0 ? 1 : 0
    return Math.sqrt((phraseMatched / phraseWeight) * (labelMatched / labelWeight)) / 100
  }

  private hasWords(label: number, ids: number[]): boolean {
    const { wordStarts, words } = this.labels
    const firstWord = wordStarts[label]!
    if (wordStarts[label + 1]! - firstWord !== ids.length) return false
    return ids.every((id, i) => words[firstWord + i] === id)
  }
}

/** Whether the phrase is a name or alias of the skill; no similar name ranks above it. */
function isExact({ method }: Similarity): boolean {
  return method === 'exact' || method === 'alias'
}

/** Returns variants with spoken phrases replaced, or a short form written out. */
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

/** Returns the weight of every stem of the catalogue. */
export function* buildStemWeights(labels: Labels, postings: Postings): SlicedTask<Float32Array> {
  const { vocabulary } = labels
  const stemWeights = new Float32Array(vocabulary.stemCount)
  for (let stem = 0; stem < stemWeights.length; stem++) {
    let skillCount = 0
    for (let i = vocabulary.stemStarts[stem]!; i < vocabulary.stemStarts[stem + 1]!; i++) {
      const id = vocabulary.stemWords[i]!
      skillCount += postings.starts[id + 1]! - postings.starts[id]!
    }
    stemWeights[stem] = stemWeight(vocabulary.stem(stem), skillCount, labels.names.length)
    if (stem % 2048 === 2047) yield
  }
  return stemWeights
}
